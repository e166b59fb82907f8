import { Button } from '@mantine/core'
import { useState } from 'react'
import { useAccountAct, useAccountOperation } from '../../api/use-operation.ts'
import { Section } from '../../components/section.tsx'
import classes from './account-page.module.css'
import { ConfirmPersonDialog } from './confirm-person-dialog.tsx'

/** Whether the account is connected to the identity provider; not shown without one. */
export function SingleSignOnSection({ hasPassword }: { hasPassword: boolean }) {
  const { data } = useAccountOperation('single-sign-on.show', {})
  const disconnect = useAccountAct('single-sign-on.disconnect', { says: 'Single sign-on is disconnected.' })
  if (!data?.provider) return null
  return (
    <Section title="Single sign-on">
      <div className={classes.row}>
        <div className="secondary">
          {data.is_connected
            ? `Connected: ${data.provider} signs you in.`
            : `Not connected. Then ${data.provider} can sign you in as this account.`}
        </div>
        {data.is_connected ? (
          <Button variant="default" data-danger loading={disconnect.isPending} onClick={() => disconnect.mutate({})}>
            Disconnect
          </Button>
        ) : (
          <Connect hasPassword={hasPassword} />
        )}
      </div>
    </Section>
  )
}

function Connect({ hasPassword }: { hasPassword: boolean }) {
  const [asksPassword, setAsksPassword] = useState(false)
  const connect = useAccountAct('single-sign-on.connect', {
    showsErrors: hasPassword,
    onDone: ({ path }) => window.location.assign(path),
  })
  return (
    <>
      <Button
        variant="default"
        loading={connect.isPending && !asksPassword}
        onClick={() => (hasPassword ? setAsksPassword(true) : connect.mutate({}))}
      >
        Connect
      </Button>
      <ConfirmPersonDialog
        asks="password"
        opened={asksPassword}
        title="Connect single sign-on"
        act="Continue"
        isBusy={connect.isPending || connect.isSuccess}
        error={connect.error}
        onClose={() => setAsksPassword(false)}
        onConfirm={(password) => connect.mutate({ password })}
      >
        Enter your password first, so that another person at this browser cannot do it.
      </ConfirmPersonDialog>
    </>
  )
}
