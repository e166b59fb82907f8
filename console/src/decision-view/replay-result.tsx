import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react'
import { Banner, StateBadge } from '../components/state-badge.tsx'
import { Time } from '../components/time.tsx'
import { writeCount } from '../components/write-number.ts'
import classes from './decision-view.module.css'
import type { ShownDecision } from './view-data.ts'

type Replay = ShownDecision['replay']

/** Whether the replay gave the recorded bytes: green only if all of them match. */
export function ReplayBadge({ replay }: { replay: Replay }) {
  if (!replay.matches)
    return (
      <StateBadge tone="bad" icon={<IconAlertTriangle size={13} />}>
        Replay differs in {replay.differences.length} {replay.differences.length === 1 ? 'place' : 'places'}
      </StateBadge>
    )
  return (
    <StateBadge tone="ok" icon={<IconRefresh size={13} />}>
      Replayed to the byte{replay.bytes !== null && `, ${writeCount(replay.bytes)} bytes`} ·{' '}
      <Time at={replay.replayed_at} as="relative" />
    </StateBadge>
  )
}

/** The places where the replay differs from what was recorded; nothing if there are none. */
export function ReplayDifferences({ replay }: { replay: Replay }) {
  if (replay.matches) return null
  return (
    <Banner tone="bad" icon={<IconAlertTriangle size={18} stroke={1.75} />}>
      <b>The stored evidence is not what was recorded.</b> Run <code>npm run cli -- audit verify</code> to see what else
      was changed.
      <ul className={classes.differences}>
        {replay.differences.slice(0, DIFFERENCES_SHOWN).map(({ path, recorded, replayed }) => (
          <li key={path}>
            <code>{path}</code> <span>{written(recorded)}</span> → <span>{written(replayed)}</span>
          </li>
        ))}
      </ul>
      {replay.differences.length > DIFFERENCES_SHOWN && <p>and {replay.differences.length - DIFFERENCES_SHOWN} more</p>}
    </Banner>
  )
}

const DIFFERENCES_SHOWN = 8
const CHARACTERS_SHOWN = 60

function written(value: unknown): string {
  const text = value === null ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > CHARACTERS_SHOWN ? `${text.slice(0, CHARACTERS_SHOWN)}…` : text
}
