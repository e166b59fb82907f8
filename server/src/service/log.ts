import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'

/** Opens the log on the standard output. */
export function openLog(level: string): Logger {
  return pino({ level, redact: ['req.headers.authorization', '*.authorization'] }, atAPace())
}

/** A busy service writes its lines at this pace; one line of an idle one goes out at once. */
const PACE_MS = 20
/** How much is kept for a reader that has fallen behind. Lines beyond it are left out, and counted. */
const KEPT_CHARACTERS = 16 * 1_024 * 1_024
const LINE_END = 10
/** How long a process that ends waits for a reader who takes nothing. */
const LAST_WAIT_MS = 5_000

/**
 * Writes lines together: at least those of one turn of the event loop, in which a batch of decisions is answered, because a call
 * for each is most of what a line costs. Nobody waits for whoever reads a pipe, a socket or a file, except a process that ends.
 */
function atAPace(): DestinationStream & { flushSync(): void } {
  let lines = ''
  let leftOut = 0
  let unwritten = Buffer.alloc(0)
  let isWithinLine = false
  let nextMs = Number.NEGATIVE_INFINITY
  let isDue = false

  const hasMore = () => lines !== '' || unwritten.length > 0 || leftOut > 0
  const takeLines = () => {
    unwritten = Buffer.from(`${isWithinLine ? '\n' : ''}${lines}${leftOut > 0 ? leftOutLine(leftOut) : ''}`)
    lines = ''
    leftOut = 0
  }
  /** Returns how much was written; where nothing can be any more, a log is no reason to stop deciding, and the lines are dropped. */
  const writeSome = (): number => {
    if (unwritten.length === 0) takeLines()
    const written = writeAtOnce(unwritten)
    if (written > 0) isWithinLine = unwritten[written - 1] !== LINE_END
    unwritten = written < 0 ? unwritten.subarray(unwritten.length) : unwritten.subarray(written)
    return written
  }
  const write = () => {
    isDue = false
    const isRead = writeSome() > 0 && unwritten.length > 0 // more than fits at once: whoever is reading gets the rest without a pause
    nextMs = isRead ? 0 : performance.now() + PACE_MS
    if (hasMore()) writeSoon()
  }
  const writeSoon = () => {
    isDue = true
    const leftMs = nextMs - performance.now()
    if (leftMs <= 0) setImmediate(write)
    else setTimeout(write, leftMs).unref()
  }
  const flushSync = () => {
    let waitedMs = 0
    while (hasMore() && waitedMs < LAST_WAIT_MS) {
      if (writeSome() !== 0) waitedMs = 0
      else waitedMs += sleep(1)
    }
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      if (leftOut > 0 || lines.length + unwritten.length > KEPT_CHARACTERS) leftOut++
      else lines += line
      if (!isDue) writeSoon()
    },
    flushSync,
  }
}

/**
 * Writes as much as the reader has room for, and returns how much that was, or -1 if nothing can be written any more: the reader is
 * gone, or the disk is full. Asking for `process.stdout` is what makes Node set a pipe or a socket to answer at once.
 */
function writeAtOnce(text: Buffer): number {
  try {
    return writeSync(process.stdout.fd, text)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : -1
  }
}

function leftOutLine(count: number): string {
  const msg = 'Lines are left out here: whoever reads the log was too far behind.'
  return `${JSON.stringify({ level: pino.levels.values.warn, time: Date.now(), msg, count })}\n`
}

function sleep(ms: number): number {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  return ms
}
