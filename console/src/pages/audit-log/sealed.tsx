import { IconClock, IconShieldCheck } from '@tabler/icons-react'
import type { AuditEntry } from '../../components/audit-entry.ts'
import { StateBadge } from '../../components/state-badge.tsx'

/** Whether an entry is part of the signed tree, or waits for the sealer. */
export function Sealed({ entry: { leaf_index } }: { entry: AuditEntry }) {
  if (leaf_index === null)
    return (
      <StateBadge tone="warn" icon={<IconClock />}>
        waiting
      </StateBadge>
    )
  return (
    <StateBadge tone="ok" icon={<IconShieldCheck />}>
      sealed
    </StateBadge>
  )
}
