import type { OutputOf } from '../../api/operation-types.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { writeCount, writePercentOf } from '../../components/write-number.ts'
import classes from './usage-page.module.css'

/** What was used in a period. */
export type Usage = OutputOf<'usage.show'>

/** An API key as a person knows it. */
export function nameOf({ id, name, last_four }: { id: string; name: string | null; last_four: string | null }): string {
  return name === null ? id : `${name} …${last_four}`
}

type KeyRow = Usage['by_key'][number]

const COLUMNS: readonly Column<KeyRow>[] = [
  {
    id: 'key',
    header: 'API key',
    sortBy: (row) => nameOf(row),
    cell: (row) => (
      <>
        {nameOf(row)} {row.is_revoked && <StateBadge>revoked</StateBadge>}
      </>
    ),
  },
  {
    id: 'requests',
    header: 'Requests',
    end: true,
    sortBy: (row) => row.requests,
    cell: (row) => writeCount(row.requests),
  },
  {
    id: 'errors',
    header: 'Errors',
    end: true,
    sortBy: (row) => row.errors,
    cell: ({ errors, requests }) =>
      errors === 0 ? '0' : `${writeCount(errors)} (${writePercentOf(errors, requests)})`,
  },
  {
    id: 'decisions',
    header: 'Decisions',
    end: true,
    sortBy: (row) => row.decisions,
    cell: (row) => writeCount(row.decisions),
  },
  {
    id: 'transactions',
    header: 'Transactions',
    end: true,
    hideOnPhone: true,
    sortBy: (row) => row.transactions,
    cell: (row) => writeCount(row.transactions),
  },
]

/** The usage of each API key; a row shows the days of its key. */
export function UsageByKey({ usage, chosen }: { usage: Usage | undefined; chosen: string | undefined }) {
  const [{ key: _, ...kept }] = usePageSearch('usage')
  return (
    <Section
      title="By API key"
      flush
      footer="A node that is killed may lose the last second of these counts. Decisions and transactions of the days above are exact."
    >
      <DataTable
        label="Usage by API key"
        columns={COLUMNS}
        rows={usage?.by_key}
        keyOf={({ id }) => id}
        linkOf={({ id }) => ({ to: 'usage', search: { ...kept, ...(id !== chosen && { key: id }) } })}
        isSelected={({ id }) => id === chosen}
        empty={<p className={`dim ${classes.empty}`}>No API key was used in this time.</p>}
      />
    </Section>
  )
}
