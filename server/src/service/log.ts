import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'
import { DatabaseUnavailable } from '../store/database/database.ts'

type Destination = DestinationStream & { flushSync(): void }

/** One buffer for all logs of a process, which keeps their lines in order. */
let standardOutput: Destination | undefined

/** Opens the log on the standard output. */
export function openLog(level: string): Logger {
  standardOutput ??= bufferedStdout()
  return pino({ level, redact: ['req.headers.authorization', '*.authorization'] }, standardOutput)
}

/** The time between two writes of a busy service; a line of an idle service is written at once. */
const FLUSH_INTERVAL_MS = 20
/** How much is buffered for a reader that has fallen behind. Later lines are dropped, and counted. */
const BUFFERED_CHARACTERS_MAX = 16 * 1_024 * 1_024
const LINE_FEED = 10
/** How long a process waits at its exit for a reader that accepts nothing. */
const EXIT_WAIT_MAX_MS = 5_000

/**
 * A buffered destination for log lines. It writes the lines of at least one turn of the event loop, in which a batch of
 * decisions is answered, in one call, because a write call per line is most of the cost of a line. The process never
 * waits for the reader of the pipe, socket or file, except at its exit.
 *
 * A line is in `pending` until it is encoded into `chunk`, which is written in one or more calls. While the buffer is
 * full, lines are dropped; the next chunk ends with a line that gives the number of dropped lines, and then lines are buffered again.
 */
function bufferedStdout(): Destination {
  let pending = ''
  let dropped = 0
  let chunk = Buffer.alloc(0)
  let endsWithinLine = false
  let nextFlushMs = Number.NEGATIVE_INFINITY
  let isScheduled = false

  const isEmpty = () => pending === '' && chunk.length === 0 && dropped === 0
  const fillChunk = () => {
    chunk = Buffer.from(`${endsWithinLine ? '\n' : ''}${pending}${dropped > 0 ? droppedLine(dropped) : ''}`)
    pending = ''
    dropped = 0
  }
  /** Returns the bytes written. If writing fails, the chunk is dropped: a broken log must not stop the service. */
  const writeSome = (): number => {
    if (chunk.length === 0) fillChunk()
    const written = writeWithoutWaiting(chunk)
    if (written > 0) endsWithinLine = chunk[written - 1] !== LINE_FEED
    chunk = written < 0 ? chunk.subarray(chunk.length) : chunk.subarray(written)
    return written
  }
  const flush = () => {
    isScheduled = false
    // A partial write means that the reader is reading but its buffer is full: write the rest without a pause.
    const isPartial = writeSome() > 0 && chunk.length > 0
    nextFlushMs = isPartial ? 0 : performance.now() + FLUSH_INTERVAL_MS
    if (!isEmpty()) schedule()
  }
  const schedule = () => {
    isScheduled = true
    const delayMs = nextFlushMs - performance.now()
    if (delayMs <= 0) setImmediate(flush)
    else setTimeout(flush, delayMs).unref()
  }
  const flushSync = () => {
    let waitedMs = 0
    while (!isEmpty() && waitedMs < EXIT_WAIT_MAX_MS) {
      if (writeSome() !== 0) waitedMs = 0
      else waitedMs += sleep(1)
    }
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      if (dropped > 0 || pending.length + chunk.length > BUFFERED_CHARACTERS_MAX) dropped++
      else pending += line
      if (!isScheduled) schedule()
    },
    flushSync,
  }
}

/**
 * Writes as much as the reader accepts and returns the number of bytes, or -1 if writing fails: the reader is gone, or
 * the disk is full. Accessing `process.stdout` makes Node set a pipe or a socket to non-blocking, so that `writeSync`
 * does not wait.
 */
function writeWithoutWaiting(bytes: Buffer): number {
  try {
    return writeSync(process.stdout.fd, bytes)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : -1
  }
}

function droppedLine(count: number): string {
  const msg = 'log lines dropped here, because the reader of the log was too far behind'
  return `${JSON.stringify({ level: pino.levels.values.warn, time: Date.now(), msg, count })}\n`
}

function sleep(ms: number): number {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  return ms
}

/** The error listener of a background job. While the database is away every round fails, and `DatabaseHealth` says so once. */
export function logErrors(logger: Logger, message: string, fields: object = {}): (error: unknown) => void {
  return (error) => {
    if (error instanceof DatabaseUnavailable) logger.debug({ err: error, ...fields }, message)
    else logger.error({ err: error, ...fields }, message)
  }
}
