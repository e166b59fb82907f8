import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { LiveNumberField } from '../../components/money/live-number-field.tsx'
import { currentNotation } from '../../components/money/number-notation.ts'
import { withPercentSign, writeCount } from '../../components/write-number.ts'
import { ReasonForm } from '../../drafts/ask-reason.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import classes from './review-queue.module.css'

interface Bounds {
  ask_above_percent: number
  refuse_above_times: number
  ask_below_percent: number
}

/** Says how far the limits of reviewers may go in this organization; owners and admins change it here. */
export function ReviewBounds() {
  const { data } = useOperation('review-bounds.show', {})
  const mayChange = usePermission('set review bounds')
  const [isOpen, setOpen] = useState(false)
  if (!data) return null
  return (
    <div className={classes.bounds}>
      <span>{boundsWords(data.bounds)}</span>
      {mayChange && (
        <Button variant="default" size="compact-xs" onClick={() => setOpen(true)}>
          Change bounds
        </Button>
      )}
      <Modal opened={isOpen && mayChange} onClose={() => setOpen(false)} title="How far may a limit go?" size={520}>
        <BoundsForm bounds={data.bounds} most={data.most} onClose={() => setOpen(false)} />
      </Modal>
    </div>
  )
}

function boundsWords({
  ask_above_percent: percent,
  refuse_above_times: times,
  ask_below_percent: low,
}: Bounds): string {
  const free = percent === 0 ? '' : `more than ${withPercentSign(writeCount(percent))} `
  return `A limit ${free}above what was asked, or above what the policy could lend, has to be confirmed with a reason${low === 0 ? '' : `, and so has one below ${withPercentSign(writeCount(low))} of both`}. More than ${writeCount(times)} times what was asked is refused.`
}

function BoundsForm({ bounds, most, onClose }: { bounds: Bounds; most: Bounds; onClose: () => void }) {
  const fields = useDraft<Bounds>('fields bounds', bounds)
  const { value: next, change: setNext } = fields
  const [isPercentClear, setPercentClear] = useState(true)
  const [isTimesClear, setTimesClear] = useState(true)
  const [isLowClear, setLowClear] = useState(true)
  const change = useAct('review-bounds.set', {
    says: 'The bounds are changed, from now on.',
    onDone() {
      fields.discard()
      onClose()
    },
  })
  const { ask_above_percent: percent, refuse_above_times: times, ask_below_percent: low } = next
  const names = ['ask_above_percent', 'refuse_above_times', 'ask_below_percent'] as const
  const isChanged = names.some((name) => next[name] !== bounds[name])
  const isWithin = names.every((name) => next[name] <= most[name])
  const whole = { notation: currentNotation(), decimals: 0 } as const
  return (
    <ReasonForm
      onClose={onClose}
      explanation="They hold for every reviewer, in sandbox and production. A review through the API is not asked."
      act="Change bounds"
      about="bounds"
      sending={change}
      isReady={isPercentClear && isTimesClear && isLowClear && isChanged && isWithin}
      onConfirm={(reason, draft) => change.mutate({ ...next, reason }, { draft })}
    >
      <DraftNotice draft={fields} />
      <LiveNumberField
        label="Without a question, percent"
        description={`How far a limit may be above what was asked, and above what the policy could lend. At most ${writeCount(most.ask_above_percent)}.`}
        whenEmpty="Write a number; 0 asks about every limit above."
        rules={{ ...whole, units: ['%'], allows: 'zero' }}
        value={percent}
        onValue={(value) => setNext({ ...next, ask_above_percent: value ?? 0 })}
        onClear={setPercentClear}
        readOnly={change.isPending}
      />
      <LiveNumberField
        label="Refused above, times"
        description={`A limit of more than so many times what was asked is refused, whatever the reason. At most ${writeCount(most.refuse_above_times)}.`}
        whenEmpty="Write a number from 1 up."
        rules={whole}
        value={times}
        onValue={(value) => setNext({ ...next, refuse_above_times: value ?? 1 })}
        onClear={setTimesClear}
        readOnly={change.isPending}
      />
      <LiveNumberField
        label="Asked about below, percent"
        description="A limit of less than this part of what was asked, and of what the policy could lend, has to be confirmed: a digit may be missing."
        whenEmpty="Write a number; 0 asks about no low limit."
        rules={{ ...whole, units: ['%'], allows: 'zero' }}
        value={low}
        onValue={(value) => setNext({ ...next, ask_below_percent: value ?? 0 })}
        onClear={setLowClear}
        readOnly={change.isPending}
      />
    </ReasonForm>
  )
}
