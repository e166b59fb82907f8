const pending = new Set<() => Promise<void>>()

/** Remembers how to take away what is being set up, in case the run ends before it is; returns what does so, once. */
export function undoable(undo: () => Promise<unknown>): () => Promise<void> {
  let undone: Promise<void> | undefined
  const undoOnce = () => {
    undone ??= undo()
      .then(() => {})
      .finally(() => pending.delete(undoOnce))
    return undone
  }
  pending.add(undoOnce)
  return undoOnce
}

let undoingAll: Promise<void> | undefined

/** Takes away what is still there, the last first. */
export function undoAll(): Promise<void> {
  undoingAll ??= (async () => {
    for (const undo of [...pending].reverse()) await undo().catch((error) => console.error(error))
  })()
  return undoingAll
}
