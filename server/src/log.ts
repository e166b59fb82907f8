import { type DestinationStream, type Logger, pino } from 'pino'

/** Opens the log on the standard output. */
export function openLog(level: string): Logger {
  return pino({ level, redact: ['req.headers.authorization', '*.authorization'] }, turnByTurn())
}

/**
 * Writes the lines of one turn of the event loop at once: a batch of decisions is answered in one turn, and to write a line
 * for each alone takes longer than all else about it. Only a process that is killed in the middle of a turn leaves lines unwritten.
 */
function turnByTurn(): DestinationStream & { flushSync(): void } {
  const output = pino.destination({ fd: 1, sync: true })
  let lines = ''
  const flushSync = () => {
    const text = lines
    lines = ''
    if (text !== '') output.write(text)
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      if (lines === '') setImmediate(flushSync)
      lines += line
    },
    flushSync,
  }
}
