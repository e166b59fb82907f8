/**
 * Shares the runs of a barrier: callers during a run share the next one, because a barrier has to begin after what its caller
 * has read.
 */
export function sharedBarrier<T>(run: () => Promise<T>): () => Promise<T> {
  let ended: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= ended.then(() => {
      next = undefined
      const running = run()
      ended = running.catch(() => {})
      return running
    })
    return next
  }
}
