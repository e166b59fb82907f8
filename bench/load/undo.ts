const pending = new Set<() => Promise<void>>()

/** Registers a clean-up for `undoAll`, in case the run ends early; returns a function that runs it at most once. */
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

/** Runs all pending clean-ups, the latest first. */
export function undoAll(): Promise<void> {
  undoingAll ??= (async () => {
    for (const undo of [...pending].reverse()) await undo().catch((error) => console.error(error))
  })()
  return undoingAll
}
