import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { type Column, DataTable } from '../components/data-table.tsx'
import { StateBadge } from '../components/state-badge.tsx'
import { FeatureName } from './feature-name.tsx'
import { FoldSection } from './fold-section.tsx'
import type { ShownFeature, ViewData } from './view-data.ts'
import { featureWriter, writeDecimal } from './write-feature.ts'

const isUsed = ({ used_by }: ShownFeature) => used_by.scorecard || used_by.limit || used_by.rules.length > 0

/** The facts that the decision saw: value, age and source, or why there is none, and what read them. */
export function FeaturesTable({ view }: { view: ViewData }) {
  const [shown, setShown] = useState<'used' | 'all' | 'missing'>('used')
  const { features } = view
  const missing = features.filter((feature) => feature.missing !== null)
  const rows = { used: features.filter(isUsed), all: features, missing }[shown]
  return (
    <FoldSection
      title="Facts"
      sub={`${features.length - missing.length} known, ${missing.length} missing`}
      flush
      end={
        <SegmentedControl
          size="xs"
          value={shown}
          onChange={(value) => setShown(value as typeof shown)}
          data={[
            { value: 'used', label: 'Used' },
            { value: 'all', label: `All ${features.length}` },
            { value: 'missing', label: `Missing ${missing.length}` },
          ]}
          aria-label="Which facts to show"
        />
      }
    >
      <DataTable
        label="Facts"
        columns={columnsFor(view)}
        rows={rows}
        keyOf={({ feature }) => feature}
        empty={
          <p style={{ padding: 16 }} className="dim">
            Nothing is missing.
          </p>
        }
      />
    </FoldSection>
  )
}

function columnsFor(view: ViewData): readonly Column<ShownFeature>[] {
  const write = featureWriter(view)
  return [
    {
      id: 'feature',
      header: 'Feature',
      cell: ({ feature, label }) => <FeatureName feature={feature} label={label} />,
    },
    {
      id: 'value',
      header: 'Value',
      end: true,
      cell: ({ feature, value, missing, missing_means }) =>
        missing ? (
          <span title={missing_means ?? undefined}>
            <StateBadge tone="warn" outline>
              missing: {missing}
            </StateBadge>
          </span>
        ) : (
          <b>{write(feature, value)}</b>
        ),
    },
    {
      id: 'age',
      header: 'Age',
      end: true,
      cell: ({ age_days }) => (age_days === null ? <span className="dim">–</span> : `${writeDecimal(age_days)} d`),
    },
    { id: 'source', header: 'Source', hideOnPhone: true, cell: ({ source, missing_means }) => missing_means ?? source },
    { id: 'used', header: 'Used by', hideOnPhone: true, cell: usedBy },
  ]
}

function usedBy({ used_by: { scorecard, rules, limit } }: ShownFeature) {
  const parts = [
    ...(scorecard ? ['scorecard'] : []),
    ...(rules.length > 0 ? [`${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`] : []),
    ...(limit ? ['limit'] : []),
  ]
  if (parts.length === 0) return <span className="dim">not used</span>
  return <span title={rules.join(', ') || undefined}>{parts.join(', ')}</span>
}
