import { Button } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { usePermission } from '../../api/use-me.ts'
import { useOperation } from '../../api/use-operation.ts'
import { CalibrationMark } from '../../components/calibration-mark.tsx'
import { CopyableId } from '../../components/copyable-id.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Figure, Figures } from '../../components/figure.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { writeTime } from '../../components/write-time.ts'
import type { ActivePolicy, ListedPolicy } from './policy.ts'
import { PolicyState } from './policy-state.tsx'

const COLUMNS: readonly Column<ListedPolicy>[] = [
  { id: 'version', header: 'Version', cell: ({ version }) => <span className="strong mono">{version}</span> },
  { id: 'state', header: 'State', cell: ({ state }) => <PolicyState state={state} />, sortBy: ({ state }) => state },
  { id: 'author', header: 'Author', cell: ({ author }) => author, hideOnPhone: true },
  {
    id: 'checksum',
    header: 'Checksum',
    cell: ({ checksum }) => <CopyableId id={checksum} short />,
    hideOnPhone: true,
  },
  {
    id: 'proposed',
    header: 'Proposed',
    cell: ({ created_at }) => <Time at={created_at} />,
    sortBy: ({ created_at }) => created_at,
    end: true,
  },
]

/** The versions of the policy, with their states and authors. */
export function PoliciesPage() {
  const query = useOperation('policies.list', {}, { refetchIntervalMs: 10_000 })
  const canPropose = usePermission('propose policies')
  const policies = query.data?.policies
  const active = policies?.find(({ state }) => state === 'active')
  const from = active ?? policies?.[0]
  const write = canPropose && (
    <Button
      component={PageLink}
      to="policies/new"
      search={from && { from: from.version }}
      leftSection={<IconPencil size={16} stroke={1.75} />}
    >
      Write a version
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Policies"
        below={
          active ? (
            <>{active.version} decides. A version never changes once it is proposed.</>
          ) : (
            'No policy decides here yet.'
          )
        }
      >
        {write}
      </PageHeader>
      <CalibrationMark />
      {query.data?.active && <WhatDecides active={query.data.active} />}
      <Section flush>
        <DataTable
          label="Policies"
          columns={COLUMNS}
          rows={policies}
          query={query}
          keyOf={({ id }) => id}
          linkOf={({ version }) => ({ to: `policies/${version}` })}
          empty={
            <EmptyState title="No policy yet" actions={write}>
              A policy is proposed by one person, approved by another, and then activated. Until then nothing is decided
              here.
            </EmptyState>
          }
        />
      </Section>
    </>
  )
}

/** What the active version does, in figures; each leads to the version as a page. */
function WhatDecides({ active }: { active: ActivePolicy }) {
  const { version, tiers, approved, activated } = active
  const link = { to: `policies/${version}`, search: { tab: 'page' } } as const
  return (
    <Figures>
      <Figure label="Cutoff" value={active.cutoff} below="a lower score is declined" link={link} />
      <Figure label="Tiers" value={tiers.length} below={`${tiers[0]} to ${tiers.at(-1)}`} link={link} />
      <Figure
        label="Rules"
        value={active.rules}
        below={`${active.declining_rules} decline, ${active.reviewing_rules} ask for a person`}
        link={link}
      />
      <Figure label="Scorecard" value={active.characteristics} below="characteristics" link={link} />
      <Figure
        label={approved ? 'Approved by' : 'Activated by'}
        value={(approved ?? activated)?.by ?? '–'}
        below={activated ? `active since ${writeTime(activated.at, 'date')}` : undefined}
        link={{ to: `policies/${version}` }}
      />
    </Figures>
  )
}
