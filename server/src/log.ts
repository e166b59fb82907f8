import { type DestinationStream, type Logger, pino } from 'pino'

/** The lines of a turn that are more than this are written earlier. */
const TURN_BYTES_MAX = 16_000

/** Opens the log on the standard output. */
export function openLog(level: string): Logger {
  return pino({ level, redact: ['req.headers.authorization', '*.authorization'] }, turnByTurn())
}

/**
 * Writes the lines of one turn of the event loop at once: a batch of decisions is answered in one turn, and to write a line
 * for each alone takes longer than all else about it. Whatever ends the process but SIGKILL leaves no line unwritten.
 */
function turnByTurn(): DestinationStream & { flushSync(): void } {
  const output = pino.destination({ fd: 1, sync: true, minLength: TURN_BYTES_MAX })
  let isToBeWritten = false
  const flushSync = () => {
    isToBeWritten = false
    output.flushSync()
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      output.write(line)
      if (isToBeWritten) return
      isToBeWritten = true
      setImmediate(flushSync)
    },
    flushSync,
  }
}
