import { Button, PasswordInput, TextInput } from '@mantine/core'
import { IconBuilding, IconFingerprint } from '@tabler/icons-react'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useOpenAct, useOpenOperation } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { EntryForm, EntryFrame, Or } from '../../entry/entry-frame.tsx'
import { OneTimeCodeField } from '../../entry/one-time-code-field.tsx'
import { nextPath } from './next-path.ts'
import { PasskeySignIn } from './passkey-sign-in.tsx'

/** A full load, so that nothing of an earlier session stays in memory. */
const enter = () => window.location.assign(nextPath())

/** The page "Sign in": by password and code, by passkey, or by single sign-on. */
export function SignInPage() {
  const options = useOpenOperation('sign-in.show-options', {})
  const [challenge, setChallenge] = useState<string>()
  if (challenge !== undefined)
    return <CodeStep challenge={challenge} onRestart={() => setChallenge(undefined)} onDone={enter} />
  return (
    <EntryFrame title="Sign in" lead="To decide, review, and see why.">
      <OtherWays options={options.data} />
      <PasswordStep onCodeNeeded={setChallenge} onDone={enter} />
      <p className="small dim">
        No account yet? Ask an owner or admin of your organization for an invitation link. The first owner uses the link
        that the first start printed.
      </p>
    </EntryFrame>
  )
}

function OtherWays({ options }: { options: OutputOf<'sign-in.show-options'> | undefined }) {
  const provider = options?.single_sign_on?.provider
  return (
    <>
      {provider && (
        <Button
          component="a"
          href="/api/oidc/start"
          variant="default"
          size="md"
          fullWidth
          leftSection={<IconBuilding size={16} stroke={1.75} />}
        >
          Continue with {provider}
        </Button>
      )}
      {options?.passkeys_impossible ? (
        <div>
          <Button variant="default" size="md" fullWidth disabled leftSection={<IconFingerprint size={16} />}>
            Continue with a passkey
          </Button>
          <p className="small dim" style={{ marginTop: 4 }}>
            {options.passkeys_impossible}
          </p>
        </div>
      ) : (
        <PasskeySignIn onDone={enter} />
      )}
      <Or>or with a password</Or>
    </>
  )
}

function PasswordStep({ onCodeNeeded, onDone }: { onCodeNeeded: (challenge: string) => void; onDone: () => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const signIn = useOpenAct('sign-in.give-password', {
    showsErrors: true,
    onDone: (answer) => (answer.code_needed ? onCodeNeeded(answer.challenge) : onDone()),
  })
  return (
    <EntryForm onSubmit={() => signIn.mutate({ email, password })}>
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        maxLength={254}
        autoFocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0 }}
      />
      <FormError error={signIn.error} />
      <Button type="submit" size="md" fullWidth loading={signIn.isPending}>
        Sign in
      </Button>
    </EntryForm>
  )
}

function CodeStep({ challenge, onRestart, onDone }: { challenge: string; onRestart: () => void; onDone: () => void }) {
  const [code, setCode] = useState('')
  const [isRecovery, setRecovery] = useState(false)
  const signIn = useOpenAct('sign-in.give-code', { showsErrors: true, onDone })
  return (
    <EntryFrame
      title={isRecovery ? 'Enter a recovery code' : 'Enter the code of your app'}
      lead={
        isRecovery
          ? 'One of the ten that you kept when you turned two-factor on. Each works once.'
          : 'Your authenticator app shows six digits for Verdigraph.'
      }
    >
      <EntryForm onSubmit={() => signIn.mutate({ challenge, code })}>
        <OneTimeCodeField
          key={String(isRecovery)}
          label={isRecovery ? 'Recovery code' : 'Code'}
          inputMode={isRecovery ? 'text' : 'numeric'}
          autoFocus
          className="mono"
          value={code}
          onChange={setCode}
        />
        <FormError error={signIn.error} />
        <Button type="submit" size="md" fullWidth loading={signIn.isPending}>
          Sign in
        </Button>
        <Button
          variant="subtle"
          onClick={() => {
            setCode('')
            setRecovery(!isRecovery)
          }}
        >
          {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
        </Button>
        <Button variant="subtle" color="gray" onClick={onRestart}>
          Start again
        </Button>
      </EntryForm>
    </EntryFrame>
  )
}
