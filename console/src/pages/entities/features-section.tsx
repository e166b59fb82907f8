import { Button } from '@mantine/core'
import { useState } from 'react'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Section } from '../../components/section.tsx'
import { FeatureName } from '../../decision-view/feature-name.tsx'
import { writeDecimal, writeValue } from '../../decision-view/write-feature.ts'
import type { ShownEntity } from './entity.ts'

type Feature = ShownEntity['features'][number]

const COLUMNS: readonly Column<Feature>[] = [
  {
    id: 'feature',
    header: 'Feature',
    cell: ({ name, label }) => <FeatureName feature={name} label={label} />,
  },
  {
    id: 'value',
    header: 'Value',
    end: true,
    cell: ({ value, unit, missing }) =>
      value === null ? (
        <span className="text-review">missing: {missing?.replaceAll('_', ' ')}</span>
      ) : (
        <span className="num">{writeValue(value, unit, undefined)}</span>
      ),
  },
  {
    id: 'age',
    header: 'Age',
    end: true,
    cell: ({ age_days }) => (age_days === null ? '–' : `${writeDecimal(age_days)} d`),
    hideOnPhone: true,
  },
  { id: 'source', header: 'Source', cell: ({ source }) => source, hideOnPhone: true },
]

/** Money first; what most entities have alike, such as consents, last. */
const ORDER = ['cashflow', 'snapshot', 'history', 'graph', 'identity', 'entity', 'consent']

const SHOWN_FIRST = 12

/** The features that a decision without an amount would see now. */
export function FeaturesSection({ entity: { features } }: { entity: ShownEntity }) {
  const [isWhole, setWhole] = useState(false)
  const known = features.filter(({ value }) => value !== null)
  const ordered = features.toSorted((one, other) => rank(one) - rank(other))
  return (
    <Section
      title="Features"
      sub={`${known.length} of ${features.length} known, as a decision would see them now`}
      flush
      end={
        features.length > SHOWN_FIRST && (
          <Button variant="default" size="xs" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : 'Show all'}
          </Button>
        )
      }
    >
      <DataTable
        label="Features"
        columns={COLUMNS}
        rows={isWhole ? ordered : ordered.slice(0, SHOWN_FIRST)}
        keyOf={({ name }) => name}
      />
    </Section>
  )
}

/** Known values before missing ones, and each of them by what it is about; the sort keeps the order of names within. */
function rank({ name, value }: Feature): number {
  const place = ORDER.indexOf(name.split('.')[0]!)
  return (value === null ? 100 : 0) + (place === -1 ? ORDER.length : place)
}
