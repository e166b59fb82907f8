import { Checkbox, Modal, Select, TextInput, UnstyledButton } from '@mantine/core'
import type { FormEvent } from 'react'
import type { InputOf, OutputOf } from '../../api/operation-types.ts'
import { useAct } from '../../api/use-operation.ts'
import { usePlace } from '../../api/use-place.ts'
import { FormFooter } from '../../components/form-footer.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import { environmentName } from '../../shell/environment-switch.tsx'
import { rolesInWords } from '../../shell/role-name.ts'
import classes from './api-keys.module.css'
import type { RevealedKey } from './key-reveal.tsx'

type Scopes = OutputOf<'api-keys.list'>['scopes']

const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'One year' },
  { value: 'never', label: 'No expiry' },
]

/** Asks for the name, the scopes and the lifetime of a new key. */
export function CreateKeyDialog({
  opened,
  onClose,
  scopes,
  onCreated,
}: {
  opened: boolean
  onClose: () => void
  scopes: Scopes
  onCreated: (key: RevealedKey) => void
}) {
  const { environment } = usePlace()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={`Create a ${environmentName(environment).toLowerCase()} key`}
      size={560}
    >
      <CreateKeyForm onClose={onClose} scopes={scopes} onCreated={onCreated} />
    </Modal>
  )
}

function CreateKeyForm({
  onClose,
  scopes,
  onCreated,
}: {
  onClose: () => void
  scopes: Scopes
  onCreated: (key: RevealedKey) => void
}) {
  const draft = useDraft('new key', { name: '', chosen: [] as string[], lifetime: '365' })
  const { name, chosen, lifetime } = draft.value
  const create = useAct('api-keys.create', { onDone: onCreated })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(
      {
        name: name.trim(),
        scopes: chosen as InputOf<'api-keys.create'>['scopes'],
        expires_in_days: lifetime === 'never' ? null : Number(lifetime),
      },
      { draft },
    )
  }
  return (
    <form onSubmit={submit}>
      <div className={classes.form}>
        <DraftNotice draft={draft} />
        <TextInput
          label="Name"
          description="What uses it, so that you know later what stops when you revoke it."
          placeholder="Checkout, staging"
          required
          maxLength={100}
          readOnly={create.isPending}
          value={name}
          onChange={(event) => draft.change({ ...draft.value, name: event.currentTarget.value })}
          data-autofocus
        />
        <ScopeChoice
          scopes={scopes}
          isReadOnly={create.isPending}
          chosen={chosen}
          onChange={(next) => draft.change({ ...draft.value, chosen: next })}
        />
        <Select
          label="Ends after"
          data={LIFETIMES}
          allowDeselect={false}
          readOnly={create.isPending}
          value={lifetime}
          onChange={(value) => draft.change({ ...draft.value, lifetime: value ?? 'never' })}
        />
      </div>
      <FormFooter
        onClose={onClose}
        act="Create and show key"
        sending={create}
        isRetry={draft.isRetry}
        isReady={name.trim() !== '' && chosen.length > 0}
      />
    </form>
  )
}

function ScopeChoice({
  scopes,
  isReadOnly,
  chosen,
  onChange,
}: {
  scopes: Scopes
  isReadOnly: boolean
  chosen: string[]
  onChange: (chosen: string[]) => void
}) {
  const offered = scopes.filter(({ may_give }) => may_give)
  const isAll = chosen.length === offered.length
  return (
    <div>
      <div className={classes.scopesHead}>
        <span className="strong" id="scopes-label">
          What may it do?
        </span>
        <UnstyledButton
          className="small"
          disabled={isReadOnly}
          onClick={() => onChange(isAll ? [] : offered.map((scope) => scope.name))}
        >
          {isAll ? 'Choose none' : 'Choose all'}
        </UnstyledButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={classes.scopes} aria-label="Scopes" tabIndex={0}>
        {offered.map(({ name, description }) => (
          <Checkbox
            key={name}
            label={<code>{name}</code>}
            description={description}
            disabled={isReadOnly}
            checked={chosen.includes(name)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
            }
          />
        ))}
      </section>
      {scopes
        .filter(({ may_give }) => !may_give)
        .map(({ name, given_by }) => (
          <p key={name} className="small dim">
            <code>{name}</code> is not offered: a key does no more than your role does. Ask {rolesInWords(given_by)} for
            a key with it.
          </p>
        ))}
    </div>
  )
}
