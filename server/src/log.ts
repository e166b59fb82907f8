import { type DestinationStream, type Logger, pino } from 'pino'

/** Opens the log on the standard output. */
export function openLog(level: string): Logger {
  return pino({ level, redact: ['req.headers.authorization', '*.authorization'] }, turnByTurn())
}

/**
 * Writes the lines of one turn of the event loop at once: a batch of decisions is answered in one turn, and a call for each line
 * is most of what a line costs. Nobody waits for whoever reads the log. Only a process that is killed leaves lines unwritten.
 */
function turnByTurn(): DestinationStream & { flushSync(): void } {
  const output = pino.destination({ fd: 1, sync: false })
  let lines = ''
  const writeTurn = () => {
    const text = lines
    lines = ''
    if (text !== '') output.write(text)
  }
  const flushSync = () => {
    writeTurn()
    output.flushSync()
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      if (lines === '') setImmediate(writeTurn)
      lines += line
    },
    flushSync,
  }
}
