/**
 * Wraps an object whose methods return promises, so that what a caller does with an answer waits for a turn: the answers of
 * one query come to all requests that share it at once.
 */
export function inTurns<T extends object>(target: T, turn: () => Promise<void>): T {
  return new Proxy(target, {
    get(_, name) {
      const member = Reflect.get(target, name)
      if (isFamily(member)) return inTurns(member, turn)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const answer = Reflect.apply(member, target, args)
        return answer instanceof Promise ? afterTurn(answer, turn) : answer
      }
    },
  })
}

/** Whether a member of a store is a family of queries, such as `store.decisions`. */
function isFamily(member: unknown): member is object {
  return typeof member === 'object' && member !== null && Object.getPrototypeOf(member) === Object.prototype
}

async function afterTurn<A>(answer: Promise<A>, turn: () => Promise<void>): Promise<A> {
  const value = await answer
  await turn()
  return value
}
