import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { writeMoney } from '../../components/write-number.ts'
import { ReasonForm } from '../../drafts/ask-reason.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import { roleName } from '../../shell/role-name.ts'
import { LimitRow } from './limit-row.tsx'
import { newRow, type RowText, readRow, rowOf } from './limit-rows.ts'
import classes from './review-queue.module.css'

type Shown = OutputOf<'approval-limits.show'>
type Limit = Shown['limits'][number]

/** Says up to which amounts people and API keys approve alone in this environment; owners change it here. */
export function ApprovalLimits() {
  const { data } = useOperation('approval-limits.show', {})
  const mayChange = usePermission('set approval limits')
  const [isOpen, setOpen] = useState(false)
  if (!data) return null
  return (
    <div className={classes.bounds}>
      <span>
        {data.limits.length === 0
          ? 'Reviewers approve any amount alone: no approval limit is set.'
          : `Approve alone: ${data.limits.map((limit) => limitWords(limit, data)).join('; ')}. Above that a second person signs.`}
        {data.holders.api_keys.some(({ id, isLive }) => isLive && !hasLimit(data, id)) &&
          ' API keys without a limit approve nothing in production.'}
      </span>
      {mayChange && (
        <Button variant="default" size="compact-xs" onClick={() => setOpen(true)}>
          Change limits
        </Button>
      )}
      <Modal opened={isOpen && mayChange} onClose={() => setOpen(false)} title="Who may approve how much?" size={760}>
        <LimitsForm shown={data} onClose={() => setOpen(false)} />
      </Modal>
    </div>
  )
}

function hasLimit({ limits }: Shown, keyId: string): boolean {
  return limits.some(({ holder }) => holder.type === 'api_key' && holder.id === keyId)
}

function limitWords({ holder, product, currency, alone, second }: Limit, shown: Shown): string {
  const of = product === null ? '' : ` of ${product.replaceAll('_', ' ')}`
  const signs = second === null ? '' : ` (signs second up to ${writeMoney(second, currency)})`
  return `${holderName(holder, shown)} up to ${writeMoney(alone, currency)}${of}${signs}`
}

function holderName({ type, id }: Limit['holder'], { holders }: Shown): string {
  if (type === 'role') return `${roleName(id as Parameters<typeof roleName>[0])}s`
  const known = type === 'operator' ? holders.operators : holders.api_keys
  return known.find((holder) => holder.id === id)?.name ?? id
}

function LimitsForm({ shown, onClose }: { shown: Shown; onClose: () => void }) {
  const fields = useDraft<readonly RowText[]>('fields approval limits', shown.limits.map(rowOf))
  const { value: rows, change: setRows } = fields
  const change = useAct('approval-limits.set', {
    says: 'The approval limits are changed, from now on.',
    onDone() {
      fields.discard()
      onClose()
    },
  })
  const limits = rows.map(readRow)
  const isComplete = limits.every((limit) => limit !== undefined)
  const isChanged = JSON.stringify(limits) !== JSON.stringify(shown.limits.map((limit) => readRow(rowOf(limit))))
  return (
    <ReasonForm
      onClose={onClose}
      explanation="They hold in this environment. A row of a person goes before one of their role, and a row of a product before one of every product. A person with limits in one currency approves nothing in another. Requests of one case are added up."
      act="Change limits"
      about="approval limits"
      sending={change}
      isReady={isComplete && isChanged}
      onConfirm={(reason, draft) =>
        change.mutate({ limits: limits.filter((limit) => limit !== undefined), reason }, { draft })
      }
    >
      <DraftNotice draft={fields} />
      {rows.map((row, index) => (
        <LimitRow
          key={row.key}
          row={row}
          holders={shown.holders}
          isReadOnly={change.isPending}
          onChange={(next) => setRows(rows.with(index, { ...row, ...next }))}
          onRemove={() => setRows(rows.toSpliced(index, 1))}
        />
      ))}
      <Button
        variant="default"
        size="compact-sm"
        disabled={rows.length >= shown.most}
        onClick={() => setRows([...rows, newRow()])}
      >
        Add a limit
      </Button>
    </ReasonForm>
  )
}
