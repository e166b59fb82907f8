import { Button, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { IconDatabase, IconEyeOff, IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import { LiveNumberField } from '../../components/money/live-number-field.tsx'
import { writeRead } from '../../components/money/number-field.tsx'
import { currentNotation } from '../../components/money/number-notation.ts'
import { moneyRules } from '../../components/money/read-amount.ts'
import { Section } from '../../components/section.tsx'
import { type Draft, useDraft } from '../../drafts/use-draft.ts'
import { KEYS } from '../../shell/shortcut-tables.ts'
import { KeyCap } from '../../shell/shortcuts.tsx'
import classes from './playground.module.css'
import { amountOf, bodyOf, isTermClear, type PlaygroundRequest } from './playground-request.ts'

/** A policy that a dry run can use. */
interface Policy {
  version: string
  state: string
}

/** What the form of the request needs. */
interface RequestFormProps {
  request: PlaygroundRequest
  policies: readonly Policy[]
  mode: 'dry' | 'record'
  mayRecord: boolean
  isRunning: boolean
  /** Whether the amount that was typed is the one of the request. */
  isClear: boolean
  onChange: (changes: Partial<PlaygroundRequest>) => void
  onClear: (isClear: boolean) => void
  onMode: (mode: 'dry' | 'record') => void
  onRun: () => void
}

/** The request as a form or as JSON, the policies, and how to run it. */
export function RequestForm({
  request,
  policies,
  mode,
  mayRecord,
  isRunning,
  isClear,
  onChange,
  onClear,
  onMode,
  onRun,
}: RequestFormProps) {
  const body = JSON.stringify(bodyOf(request, request.entity), null, 2)
  const draft = useDraft('playground body', { text: '', of: '' })
  const [shape, setShape] = useState<'form' | 'json'>(draft.isKept && draft.value.of === body ? 'json' : 'form')
  return (
    <Section
      title="Request"
      end={
        <SegmentedControl
          size="xs"
          value={shape}
          onChange={(value) => setShape(value as typeof shape)}
          data={[
            { value: 'form', label: 'Form' },
            { value: 'json', label: 'JSON' },
          ]}
          aria-label="How the request is written"
        />
      }
    >
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault()
          onRun()
        }}
      >
        <StartingPoint request={request} onChange={onChange} />
        {request.decision === '' &&
          request.persona === '' &&
          (shape === 'form' ? (
            <Fields request={request} onChange={onChange} onClear={onClear} />
          ) : (
            <JsonFields body={body} draft={draft} onChange={onChange} />
          ))}
        <Policies request={request} policies={policies} onChange={onChange} />
        <RunAs mode={mode} mayRecord={mayRecord && request.decision === '' && request.persona === ''} onMode={onMode} />
        <Button
          type="submit"
          loading={isRunning}
          disabled={!isClear || !isTermClear(request)}
          leftSection={<IconPlayerPlay size={15} stroke={1.75} />}
          rightSection={isClear && <KeyCap of={KEYS.decide} />}
        >
          {runWords(request, { mode, isClear })}
        </Button>
      </form>
    </Section>
  )
}

/** The button repeats the amount as it was understood. */
function runWords(request: PlaygroundRequest, { mode, isClear }: Pick<RequestFormProps, 'mode' | 'isClear'>): string {
  const act = mode === 'dry' ? 'Decide' : 'Decide and record'
  if (!isClear) return `${act}: which amount?`
  if (!isTermClear(request)) return `${act}: which term?`
  const { requested_amount, currency = '' } = amountOf(request)
  const isOwn = request.decision === '' && request.persona === ''
  return isOwn && requested_amount !== undefined
    ? `${act} ${writeRead(requested_amount, moneyRules(currentNotation(), currency))}`
    : act
}

function RunAs({
  mode,
  mayRecord,
  onMode,
}: {
  mode: 'dry' | 'record'
  mayRecord: boolean
  onMode: (mode: 'dry' | 'record') => void
}) {
  return (
    <div>
      <span className={classes.label} id="run-as">
        Run as
      </span>
      <SegmentedControl
        fullWidth
        value={mode}
        onChange={(value) => onMode(value as typeof mode)}
        data={[
          { value: 'dry', label: <Choice icon={<IconEyeOff size={15} />} words="Dry run" /> },
          {
            value: 'record',
            label: <Choice icon={<IconDatabase size={15} />} words="Record in sandbox" />,
            disabled: !mayRecord,
          },
        ]}
        aria-labelledby="run-as"
      />
    </div>
  )
}

function Choice({ icon, words }: { icon: React.ReactNode; words: string }) {
  return (
    <span className={classes.choice}>
      {icon}
      {words}
    </span>
  )
}

interface FieldsProps {
  request: PlaygroundRequest
  onChange: (changes: Partial<PlaygroundRequest>) => void
}

function StartingPoint({ request, onChange }: FieldsProps) {
  const from = request.decision || request.persona
  if (!from) return null
  return (
    <div className={classes.from}>
      <span>
        Facts of {request.decision ? 'the decision' : 'the persona'}{' '}
        {request.decision ? <code>{from}</code> : <b>{from}</b>}
      </span>
      <Button variant="default" size="compact-xs" onClick={() => onChange({ decision: '', persona: '' })}>
        Start from an entity
      </Button>
    </div>
  )
}

function Fields({ request, onChange, onClear }: FieldsProps & Pick<RequestFormProps, 'onClear'>) {
  return (
    <>
      <TextInput
        label="Entity"
        description="Its id, or your own id of it"
        placeholder="ent_…"
        value={request.entity}
        onChange={(event) => onChange({ entity: event.currentTarget.value.trim() })}
      />
      <TextInput
        label="Product"
        value={request.product}
        onChange={(event) => onChange({ product: event.currentTarget.value })}
      />
      <div className={classes.amount}>
        <LiveNumberField
          label="Amount asked"
          description="Empty for a product that is access"
          value={request.amount === '' ? null : Number(request.amount)}
          rules={moneyRules(currentNotation(), request.currency)}
          onValue={(value) => onChange({ amount: value === null ? '' : String(value) })}
          onClear={onClear}
        />
        <TextInput
          label="Currency"
          description="ISO 4217"
          value={request.currency}
          maxLength={3}
          onChange={(event) => onChange({ currency: event.currentTarget.value.toUpperCase() })}
        />
      </div>
      <TextInput
        label="Term in months"
        description="Empty for the term of the product"
        inputMode="numeric"
        value={request.term}
        error={isTermClear(request) ? undefined : 'Write months, such as 24.'}
        onChange={(event) => onChange({ term: event.currentTarget.value.trim() })}
      />
    </>
  )
}

/** The request as JSON. The URL has what is understood of it; a draft keeps a text that is not. */
function JsonFields({
  body,
  draft,
  onChange,
}: Pick<FieldsProps, 'onChange'> & {
  /** The request as it is understood. */
  body: string
  /** A text, and the request beside which it was typed. */
  draft: Draft<{ text: string; of: string }>
}) {
  const [text, setText] = useState(draft.isKept && draft.value.of === body ? draft.value.text : body)
  const read = readBody(text)
  return (
    <Textarea
      label="Body of POST /v1/underwrite"
      autosize
      minRows={7}
      value={text}
      error={typeof read === 'string' ? read : undefined}
      classNames={{ input: classes.json }}
      onChange={(event) => {
        const { value } = event.currentTarget
        setText(value)
        const next = readBody(value)
        if (typeof next === 'string') return draft.change({ text: value, of: body })
        draft.discard()
        onChange(next)
      }}
    />
  )
}

/** The request of a body, or what is wrong with the text. */
function readBody(text: string): Partial<PlaygroundRequest> | string {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return 'This is not JSON yet.'
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body is a JSON object.'
  const { entity_id, product, requested_amount, currency, term_months, ...unknown } = body as Record<string, unknown>
  const [more] = Object.keys(unknown)
  if (more) return `The body has no field ${more}.`
  return {
    entity: String(entity_id ?? ''),
    product: String(product ?? ''),
    amount: requested_amount === undefined ? '' : String(requested_amount),
    currency: String(currency ?? 'EUR'),
    term: term_months === undefined ? '' : String(term_months),
  }
}

function Policies({ request, policies, onChange }: FieldsProps & { policies: readonly Policy[] }) {
  const options = policies.map(({ version, state }) => ({ value: version, label: `${version} (${state})` }))
  return (
    <>
      <Select
        label="Policy A"
        placeholder="The active policy"
        data={options}
        value={request.a || null}
        clearable
        onChange={(value) => onChange({ a: value ?? '', ...(value === null && { b: '' }) })}
      />
      {request.a !== '' && (
        <Select
          label="Compare with policy B"
          placeholder="None"
          data={options}
          value={request.b || null}
          clearable
          onChange={(value) => onChange({ b: value ?? '' })}
        />
      )}
    </>
  )
}
