import { Button, Modal, TextInput } from '@mantine/core'
import { startRegistration } from '@simplewebauthn/browser'
import { IconFingerprint } from '@tabler/icons-react'
import { useState } from 'react'
import { callAccount } from '../../api/call.ts'
import type { InputOf, OutputOf } from '../../api/operation-types.ts'
import { useAccountAct } from '../../api/use-operation.ts'
import { useSending } from '../../api/use-sending.ts'
import { DialogFooter } from '../../components/dialog-footer.tsx'
import { FormError } from '../../components/form-error.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { explainPasskeyError } from '../../entry/explain-passkey-error.ts'
import classes from './account-page.module.css'
import { ConfirmPersonDialog } from './confirm-person-dialog.tsx'

type Security = OutputOf<'account.show-security'>
type Passkey = Security['passkeys'][number]

/** The passkeys of the account: each signs in without a password and without a code. */
export function PasskeySection({ security }: { security: Security }) {
  const { passkeys, passkeys_impossible } = security
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<Passkey>()
  return (
    <Section
      title="Passkeys"
      flush={passkeys.length > 0}
      end={
        <Button variant="default" size="xs" disabled={passkeys_impossible !== null} onClick={() => setAdding(true)}>
          Add a passkey
        </Button>
      }
      footer={passkeys.length > 0 && passkeys_impossible}
    >
      {passkeys.length === 0 && (
        <p className="secondary">
          {passkeys_impossible ??
            'A passkey signs you in with your fingerprint, your face or a security key. It needs no password and no code.'}
        </p>
      )}
      {passkeys.length > 0 && (
        <ul className={classes.list}>
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} onRemove={() => setRemoved(passkey)} />
          ))}
        </ul>
      )}
      <AddPasskey opened={isAdding} hasPassword={security.has_password} onClose={() => setAdding(false)} />
      <RemovePasskey passkey={removed} onClose={() => setRemoved(undefined)} />
    </Section>
  )
}

function PasskeyRow({ passkey, onRemove }: { passkey: Passkey; onRemove: () => void }) {
  return (
    <li>
      <IconFingerprint size={20} stroke={1.5} />
      <div>
        <div className={classes.name}>{passkey.name}</div>
        <div className="small dim">
          Added <Time at={passkey.created_at} as="date" />
          {passkey.last_used_at ? (
            <>
              , last used <Time at={passkey.last_used_at} as="relative" />
            </>
          ) : (
            ', not used yet'
          )}
        </div>
      </div>
      <Button variant="default" size="xs" data-danger aria-label={`Remove ${passkey.name}`} onClick={onRemove}>
        Remove
      </Button>
    </li>
  )
}

/** Asks the device for a passkey, then adds it. Only the second call changes something, so it carries the key. */
async function addPasskey({ name, password }: { name: string; password?: string }, idempotencyKey: string) {
  const { options } = await callAccount('passkeys.begin', password === undefined ? {} : { password })
  const response = await startRegistration({ optionsJSON: options }).catch(explainPasskeyError)
  const input = { name: name.trim() || 'Passkey', response } as unknown as InputOf<'passkeys.add'>
  return callAccount('passkeys.add', input, { idempotencyKey })
}

function AddPasskey({ opened, hasPassword, onClose }: { opened: boolean; hasPassword: boolean; onClose: () => void }) {
  const [name, setName] = useState('')
  const add = useSending(addPasskey, { showsErrors: true, says: 'The passkey is added.', onDone: onClose })
  const nameField = (
    <TextInput
      label="Name"
      description="To tell it from others: such as “Laptop” or “Security key”."
      maxLength={100}
      readOnly={add.isPending}
      value={name}
      onChange={(event) => setName(event.currentTarget.value)}
    />
  )
  if (hasPassword)
    return (
      <ConfirmPersonDialog
        asks="password"
        opened={opened}
        title="Add a passkey"
        act="Continue"
        isBusy={add.isPending}
        error={add.error}
        onClose={onClose}
        onConfirm={(password) => add.mutate({ name, password })}
      >
        {nameField}
      </ConfirmPersonDialog>
    )
  return (
    <Modal opened={opened} onClose={onClose} title="Add a passkey" size={440}>
      <div className={classes.dialog}>
        {nameField}
        <FormError error={add.error} />
      </div>
      <DialogFooter>
        <Button loading={add.isPending} onClick={() => add.mutate({ name })}>
          Continue
        </Button>
      </DialogFooter>
    </Modal>
  )
}

function RemovePasskey({ passkey, onClose }: { passkey: Passkey | undefined; onClose: () => void }) {
  const remove = useAccountAct('passkeys.remove', { says: 'The passkey is removed.', onDone: onClose })
  return (
    <Modal opened={passkey !== undefined} onClose={onClose} title={`Remove ${passkey?.name ?? ''}`} size={440}>
      <p className="secondary">
        It no longer signs you in. The device keeps its half; delete it there as well, because it is of no use.
      </p>
      <DialogFooter>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button data-danger loading={remove.isPending} onClick={() => remove.mutate({ passkey_id: passkey!.id })}>
          Remove passkey
        </Button>
      </DialogFooter>
    </Modal>
  )
}
