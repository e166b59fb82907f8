import { Checkbox } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Banner } from '../../components/state-badge.tsx'
import { writeMoney } from '../../components/write-number.ts'
import { type CaseAnswer, isConfirmedTotal, type Total } from './case-answer.ts'
import { totalWords } from './plan-words.ts'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'

/** Asks whether limits are meant that together are above the bounds. */
export function ConfirmTotal({
  shown,
  answer,
  total,
  isReadOnly,
  onChange,
}: {
  shown: Pick<ShownCase, 'totals'>
  answer: CaseAnswer
  total: Total
  isReadOnly: boolean
  onChange: (total: Total, isMeant: boolean) => void
}) {
  return (
    <Banner tone="warn" icon={<IconAlertTriangle size={16} stroke={1.75} />}>
      {totalWords(total, shown)} Correct one, or say why in the reason.
      <Checkbox
        className={classes.confirm}
        label={`Yes, I mean ${writeMoney(total.amount, total.currency)} together`}
        disabled={isReadOnly}
        checked={isConfirmedTotal(answer, total)}
        onChange={(event) => onChange(total, event.currentTarget.checked)}
      />
    </Banner>
  )
}
