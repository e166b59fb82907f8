import { Button, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { callAccount } from '../../api/call.ts'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAccountAct, useOpenAct, useOpenOperation } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { writeTime } from '../../components/write-time.ts'
import { EntryForm, EntryFrame } from '../../entry/entry-frame.tsx'
import { linkToken } from '../../entry/link-token.ts'
import { NewPasswordField } from '../../entry/new-password-field.tsx'
import { OneTimeCodeField } from '../../entry/one-time-code-field.tsx'
import { roleName } from '../../shell/role-name.ts'

type Invitation = OutputOf<'invitation.show'>

/** The page behind an invitation: makes an account for its person, or binds the one that is signed in. */
export function InvitationPage() {
  const [token] = useState(linkToken)
  const invitation = useOpenOperation('invitation.show', { token }, { enabled: token !== '' })
  const signedInAs = useSignedInAs()
  if (token === '' || invitation.error) return <DeadLink />
  if (!invitation.data || signedInAs === undefined) return null
  const { organization_name, role, expires_at } = invitation.data
  return (
    <EntryFrame
      title={`Join ${organization_name}`}
      lead={
        <>
          You are invited as <b>{roleName(role as Parameters<typeof roleName>[0])}</b>. This link works once and ends{' '}
          {writeTime(expires_at, 'relative')}.
        </>
      }
    >
      {signedInAs !== null ? (
        <JoinSignedIn token={token} email={signedInAs} invitation={invitation.data} />
      ) : invitation.data.has_account ? (
        <SignInFirst token={token} email={invitation.data.email} />
      ) : (
        <NewAccount token={token} invitation={invitation.data} />
      )}
    </EntryFrame>
  )
}

/** The e-mail of the account that is signed in; null if none is, undefined while that is asked. */
function useSignedInAs(): string | null | undefined {
  const [email, setEmail] = useState<string | null>()
  useEffect(() => {
    // Not by the cache of answers: its reaction to 401 would put this address, with the token, into a search string.
    callAccount('account.show', {}).then(
      ({ account }) => setEmail(account.email),
      () => setEmail(null),
    )
  }, [])
  return email
}

function NewAccount({ token, invitation }: { token: string; invitation: Invitation }) {
  const [name, setName] = useState(invitation.name)
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const accept = useOpenAct('invitation.accept', { showsErrors: true, leaves: true, onDone: openOverview })
  return (
    <EntryForm onSubmit={() => accept.mutate({ token, name, password, ...(invitation.needs_code && { code }) })}>
      <TextInput
        label="Your name"
        autoComplete="name"
        required
        withAsterisk={false}
        maxLength={255}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="username"
        readOnly
        value={invitation.email}
        description="You sign in with it. The invitation names it."
        inputWrapperOrder={['label', 'input', 'description']}
      />
      <NewPasswordField value={password} onChange={setPassword} />
      {invitation.needs_code && <OperatorCodeField value={code} onChange={setCode} />}
      <FormError error={accept.error} />
      <Button type="submit" size="md" fullWidth loading={accept.isPending || accept.isSuccess}>
        Create account and join
      </Button>
    </EntryForm>
  )
}

function JoinSignedIn({ token, email, invitation }: { token: string; email: string; invitation: Invitation }) {
  const [code, setCode] = useState('')
  const join = useAccountAct('invitation.join', { showsErrors: true, leaves: true, onDone: openOverview })
  return (
    <EntryForm onSubmit={() => join.mutate({ token, ...(invitation.needs_code && { code }) })}>
      <p className="secondary">
        You are signed in as <b>{email}</b>. {invitation.organization_name} will be in the list of your organizations.
      </p>
      {invitation.needs_code && <OperatorCodeField value={code} onChange={setCode} />}
      <FormError error={join.error} />
      <Button type="submit" size="md" fullWidth loading={join.isPending || join.isSuccess}>
        Join with this account
      </Button>
    </EntryForm>
  )
}

/** For an operator whom the command line knows by codes: the link alone does not prove who opened it. */
function OperatorCodeField({ value, onChange }: { value: string; onChange: (code: string) => void }) {
  return (
    <OneTimeCodeField
      label="Code of your authenticator app"
      description="The app that gives your codes for the command line."
      inputWrapperOrder={['label', 'input', 'description']}
      value={value}
      onChange={onChange}
    />
  )
}

function SignInFirst({ token, email }: { token: string; email: string }) {
  return (
    <>
      <p className="secondary">
        There is an account with the e-mail <b>{email}</b>. Sign in with it, then you can join.
      </p>
      <Button
        component="a"
        // In the fragment, so that the token stays out of logs and search strings.
        href={`/sign-in#next=${encodeURIComponent(`/invitation#${token}`)}`}
        size="md"
        fullWidth
      >
        Sign in to join
      </Button>
    </>
  )
}

function DeadLink() {
  return (
    <EntryFrame
      title="This link does not work any more"
      lead="It was used or withdrawn, or has expired. Ask the person who invited you for another."
    >
      <Button component="a" href="/sign-in" variant="default" size="md" fullWidth>
        Go to sign-in
      </Button>
    </EntryFrame>
  )
}

/** A full load, so that the used link is gone from this tab. */
function openOverview({ organization_id }: { organization_id: string }): void {
  window.location.replace(`/${organization_id}/sandbox/overview`)
}
