import { type TimeStyle, writeTime } from './write-time.ts'

/** A moment in the reader's time zone; hovering or touching it shows UTC, see `UtcTooltip`. */
export function Time({ at, as = 'date-time', nowMs }: { at: string; as?: TimeStyle; nowMs?: number }) {
  return (
    <time dateTime={at} className="num nowrap">
      {writeTime(at, as, nowMs)}
    </time>
  )
}
