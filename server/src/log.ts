import { type DestinationStream, type Logger, pino } from 'pino'

/** Opens the log on the standard output. */
export function openLog(level: string): Logger {
  return pino({ level, redact: ['req.headers.authorization', '*.authorization'] }, atAPace())
}

/** A busy service writes its lines at this pace; one line of an idle one goes out at once. */
const PACE_MS = 20

/**
 * Writes lines together: at least those of one turn of the event loop, in which a batch of decisions is answered, because a call
 * for each is most of what a line costs. Nobody waits for whoever reads the log. Only a process that is killed leaves lines unwritten.
 */
function atAPace(): DestinationStream & { flushSync(): void } {
  const output = pino.destination({ fd: 1, sync: false })
  let lines = ''
  let writtenMs = Number.NEGATIVE_INFINITY
  const write = () => {
    const text = lines
    lines = ''
    writtenMs = performance.now()
    if (text !== '') output.write(text)
  }
  const writeSoon = () => {
    const leftMs = writtenMs + PACE_MS - performance.now()
    if (leftMs <= 0) setImmediate(write)
    else setTimeout(write, leftMs).unref()
  }
  const flushSync = () => {
    write()
    output.flushSync()
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      if (lines === '') writeSoon()
      lines += line
    },
    flushSync,
  }
}
