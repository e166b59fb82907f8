import { Tooltip } from '@mantine/core'
import { IconAlertTriangle, IconClock } from '@tabler/icons-react'
import { StateBadge } from '../../components/state-badge.tsx'
import { writeDuration } from '../../components/write-number.ts'
import { utcOf } from '../../components/write-time.ts'

/** Below this, the badge warns. */
const SOON_MS = 2 * 3_600_000

/** How much of the time for a case is left, or how long it is over. */
export function DeadlineBadge({ dueAt }: { dueAt: string }) {
  const leftMs = Date.parse(dueAt) - Date.now()
  const tone = leftMs < 0 ? 'bad' : leftMs < SOON_MS ? 'warn' : 'neutral'
  return (
    <Tooltip label={`Due ${utcOf(dueAt)}`}>
      <span>
        <StateBadge tone={tone} icon={leftMs < 0 ? <IconAlertTriangle size={13} /> : <IconClock size={13} />}>
          {writeDuration(Math.abs(leftMs))} {leftMs < 0 ? 'over' : 'left'}
        </StateBadge>
      </span>
    </Tooltip>
  )
}
