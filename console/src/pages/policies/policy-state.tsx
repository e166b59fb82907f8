import { IconCircleCheck, IconCircleX, IconClock, IconHistory, IconRosetteDiscountCheck } from '@tabler/icons-react'
import { StateBadge } from '../../components/state-badge.tsx'
import type { ListedPolicy } from './policy.ts'

const LOOKS = {
  proposed: { tone: 'warn', words: 'Proposed, waiting for approval', icon: <IconClock /> },
  approved: { tone: 'info', words: 'Approved, not active', icon: <IconRosetteDiscountCheck /> },
  active: { tone: 'ok', words: 'Active', icon: <IconCircleCheck /> },
  retired: { tone: 'neutral', words: 'Retired', icon: <IconHistory /> },
  rejected: { tone: 'bad', words: 'Rejected', icon: <IconCircleX /> },
} as const

/** The state of a policy, in words. */
export function PolicyState({ state }: { state: ListedPolicy['state'] }) {
  const { tone, words, icon } = LOOKS[state]
  return (
    <StateBadge tone={tone} icon={icon}>
      {words}
    </StateBadge>
  )
}
