import { Section } from '../../components/section.tsx'
import { writeCount, writeRate } from '../../components/write-number.ts'
import { PlainTable } from './plain-table.tsx'
import type { BacktestResult } from './policy.ts'

/** How applicants fare by the attributes that the policy monitors and cannot read. */
export function Monitored({ result: { monitored } }: { result: BacktestResult }) {
  return monitored.map(({ feature, describes, groups }) => (
    <Section
      key={feature}
      title={`Approvals by ${describes.replaceAll('_', ' ')}`}
      sub={`${feature}, which the policy cannot read`}
      flush
    >
      <PlainTable
        label={`Approvals by ${describes.replaceAll('_', ' ')}`}
        head={['Value', 'Decisions', 'Approved as decided', 'Approved under this policy']}
        rows={groups.map(({ value, decided, approved_before, approved_after }) => [
          value ?? 'not known',
          writeCount(decided),
          writeRate(approved_before / decided),
          writeRate(approved_after / decided),
        ])}
      />
    </Section>
  ))
}
