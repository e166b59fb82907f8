import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useOpenAct, useOpenOperation } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { writeTime } from '../../components/write-time.ts'
import { EntryForm, EntryFrame } from '../../entry/entry-frame.tsx'
import { linkToken } from '../../entry/link-token.ts'
import { NewPasswordField } from '../../entry/new-password-field.tsx'

/** The page behind the link of the first start: makes the first owner, and signs them in. */
export function WelcomePage() {
  const [token] = useState(linkToken)
  const link = useOpenOperation('welcome.check', { token }, { enabled: token !== '' })
  if (token === '' || link.error) return <DeadLink />
  if (!link.data) return null
  const { expires_at, storage, sandbox_policy, audit_key_id } = link.data
  return (
    <EntryFrame
      title="Create the first owner"
      lead={
        <>
          This link works once and ends <b>{writeTime(expires_at, 'relative')}</b>. You can invite others afterwards.
        </>
      }
      side="This installation is running. Sandbox and production are walled off from each other, and every act from here on goes on a log that shows each change."
      facts={[
        storage === 'embedded' ? 'Database created, 2 environments' : 'PostgreSQL connected, 2 environments',
        ...(sandbox_policy ? [`Sandbox decides by ${sandbox_policy}`] : []),
        `Audit log signed, key ${audit_key_id.slice(0, 8)}`,
      ]}
    >
      <OwnerForm token={token} />
    </EntryFrame>
  )
}

function OwnerForm({ token }: { token: string }) {
  const [owner, setOwner] = useState({ name: '', email: '', password: '', organization: '' })
  const create = useOpenAct('welcome.accept', {
    showsErrors: true,
    leaves: true,
    // A full load, so that the used link is gone from this tab.
    onDone: ({ organization_id }) => window.location.replace(`/${organization_id}/sandbox/overview`),
  })
  const field = (name: 'name' | 'email' | 'organization') => ({
    value: owner[name],
    required: true,
    withAsterisk: false,
    onChange: (event: { currentTarget: HTMLInputElement }) => setOwner({ ...owner, [name]: event.currentTarget.value }),
  })
  return (
    <EntryForm onSubmit={() => create.mutate({ token, ...owner })}>
      <TextInput label="Your name" autoComplete="name" maxLength={255} autoFocus {...field('name')} />
      <TextInput label="E-mail" type="email" autoComplete="username" maxLength={254} {...field('email')} />
      <NewPasswordField value={owner.password} onChange={(password) => setOwner({ ...owner, password })} />
      <TextInput label="Organization" autoComplete="organization" maxLength={255} {...field('organization')} />
      <FormError error={create.error} />
      <Button type="submit" size="md" fullWidth loading={create.isPending || create.isSuccess}>
        Create owner and sign in
      </Button>
      <p className="small dim">
        No e-mail is sent and nothing leaves this machine. Add a passkey or two-factor afterwards, under your account.
      </p>
    </EntryForm>
  )
}

function DeadLink() {
  return (
    <EntryFrame
      title="This link does not work any more"
      lead="It was used or has expired, or there is an owner already."
    >
      <p className="secondary">
        While there is no owner, <code>npm run cli -- operators first-link</code> makes another link. Otherwise sign in,
        or ask an owner for an invitation.
      </p>
      <Button component="a" href="/sign-in" variant="default" size="md" fullWidth>
        Go to sign-in
      </Button>
    </EntryFrame>
  )
}
