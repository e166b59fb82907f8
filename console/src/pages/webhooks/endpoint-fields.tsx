import { Checkbox, Radio, TextInput } from '@mantine/core'
import type { InputOf } from '../../api/operation-types.ts'
import { useOperation } from '../../api/use-operation.ts'
import classes from './webhooks.module.css'

/** The types of events that an endpoint gets: all of them, or those that are named. */
export type EventTypes = InputOf<'webhooks.add'>['event_types']

/** What a form says about an endpoint. */
export interface Fields {
  url: string
  description: string
  event_types: EventTypes
}

/** The fields of an endpoint: URL, description, and the catalogue of events to choose from. */
export function EndpointFields({
  fields,
  isReadOnly,
  onChange,
  urlHint,
}: {
  fields: Fields
  /** While they are being sent. */
  isReadOnly: boolean
  onChange: (fields: Fields) => void
  /** In place of the required URL: what happens if it stays empty. */
  urlHint?: string
}) {
  const { data: catalogue } = useOperation('webhooks.show-catalogue', {})
  return (
    <div className={classes.form}>
      <TextInput
        label={urlHint ? 'New URL' : 'URL'}
        description={urlHint ?? urlRule(catalogue)}
        placeholder="https://hooks.example.com/verdigraph"
        required={!urlHint}
        maxLength={2_048}
        spellCheck={false}
        readOnly={isReadOnly}
        value={fields.url}
        onChange={(event) => onChange({ ...fields, url: event.currentTarget.value })}
        data-autofocus
      />
      <TextInput
        label="Description"
        description="Tells endpoints of one host apart."
        maxLength={255}
        readOnly={isReadOnly}
        value={fields.description}
        onChange={(event) => onChange({ ...fields, description: event.currentTarget.value })}
      />
      <EventChoice
        chosen={fields.event_types}
        isReadOnly={isReadOnly}
        onChange={(event_types) => onChange({ ...fields, event_types })}
        catalogue={catalogue?.event_types ?? []}
      />
    </div>
  )
}

function urlRule(catalogue: { allows_loopback: boolean; environment: string } | undefined): string {
  if (catalogue?.environment === 'production') return 'Must start with https:// and be reachable from the internet.'
  return catalogue?.allows_loopback
    ? 'A public address, or a loopback address of this machine while you develop.'
    : 'A public address. The path may hold a token: it is encrypted and not shown again.'
}

function EventChoice({
  chosen,
  isReadOnly,
  onChange,
  catalogue,
}: {
  chosen: EventTypes
  isReadOnly: boolean
  onChange: (chosen: EventTypes) => void
  catalogue: readonly { type: string; summary: string }[]
}) {
  const named: readonly string[] = chosen === 'all' ? [] : chosen
  const choose = (type: string, isOn: boolean) =>
    onChange((isOn ? [...named, type] : named.filter((one) => one !== type)) as EventTypes)
  return (
    <div className={classes.form}>
      <Radio.Group
        label="Events"
        readOnly={isReadOnly}
        value={chosen === 'all' ? 'all' : 'some'}
        onChange={(value) => onChange(value === 'all' ? 'all' : ([] as unknown as EventTypes))}
      >
        <div className={classes.form}>
          <Radio
            value="all"
            label="All, including types that are added later"
            description="Without audit.checkpoint: heads of the audit log go only to endpoints that name them."
          />
          <Radio value="some" label="Only these" />
        </div>
      </Radio.Group>
      {chosen !== 'all' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section className={classes.catalogue} aria-label="Types of events" tabIndex={0}>
          {catalogue.map(({ type, summary }) => (
            <Checkbox
              key={type}
              label={<code>{type}</code>}
              description={summary.replaceAll('`', '')}
              disabled={isReadOnly}
              checked={named.includes(type)}
              onChange={(event) => choose(type, event.currentTarget.checked)}
            />
          ))}
        </section>
      )}
    </div>
  )
}
