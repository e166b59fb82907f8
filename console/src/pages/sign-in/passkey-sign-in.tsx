import { Button } from '@mantine/core'
import { startAuthentication } from '@simplewebauthn/browser'
import { IconFingerprint } from '@tabler/icons-react'
import { callOpen } from '../../api/call.ts'
import type { InputOf } from '../../api/operation-types.ts'
import { useSending } from '../../api/use-sending.ts'
import { FormError } from '../../components/form-error.tsx'
import { explainPasskeyError } from '../../entry/explain-passkey-error.ts'

/** Asks the device for an answer, then signs in with it. The server takes each answer once. */
async function signInByPasskey(): Promise<void> {
  const { options } = await callOpen('sign-in.begin-passkey', {})
  const response = await startAuthentication({ optionsJSON: options }).catch(explainPasskeyError)
  await callOpen('sign-in.give-passkey', { response } as unknown as InputOf<'sign-in.give-passkey'>)
}

/** The button that signs in with a passkey, whose device asks for its owner. */
export function PasskeySignIn({ onDone }: { onDone: () => void }) {
  const signIn = useSending(signInByPasskey, { showsErrors: true, onDone })
  return (
    <>
      <Button
        variant="default"
        size="md"
        fullWidth
        leftSection={<IconFingerprint size={16} stroke={1.75} />}
        loading={signIn.isPending}
        onClick={() => signIn.mutate({})}
      >
        Continue with a passkey
      </Button>
      <FormError error={signIn.error} />
    </>
  )
}
