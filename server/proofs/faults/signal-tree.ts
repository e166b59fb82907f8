import { readdirSync, readFileSync } from 'node:fs'

/** Sends a signal to a process and all its descendants. */
export function signalTree(root: number, signal: NodeJS.Signals): void {
  signalAll(processTree(root), signal)
}

/** Sends a signal to processes, some of which may have ended by themselves. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
}

/** A process and all its descendants. */
function processTree(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        return [[Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as const]
      } catch {
        return [] // it has exited
      }
    })
  const childrenOf = (pid: number): number[] =>
    parents.filter(([, parent]) => parent === pid).flatMap(([child]) => [child, ...childrenOf(child)])
  return [root, ...childrenOf(root)]
}
