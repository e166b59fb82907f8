import { Button } from '@mantine/core'
import { IconShieldCheck } from '@tabler/icons-react'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAccountAct } from '../../api/use-operation.ts'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import classes from './account-page.module.css'
import { ConfirmPersonDialog } from './confirm-person-dialog.tsx'
import { EnrolApp } from './enrol-app.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

/** Two-factor by an authenticator app: turned on with its QR code, with recovery codes shown once. */
export function TwoFactorSection({ security }: { security: OutputOf<'account.show-security'> }) {
  const [codes, setCodes] = useState<string[]>()
  const { enabled_at } = security.two_factor
  return (
    <Section
      title="Two-factor"
      end={
        enabled_at !== null && (
          <StateBadge tone="ok" icon={<IconShieldCheck size={14} stroke={1.75} />}>
            On
          </StateBadge>
        )
      }
    >
      {enabled_at === null ? (
        <TurnOn hasPassword={security.has_password} onCodes={setCodes} />
      ) : (
        <TurnedOn security={security} onCodes={setCodes} />
      )}
      <RecoveryCodes codes={codes} onClose={() => setCodes(undefined)} />
    </Section>
  )
}

function TurnOn({ hasPassword, onCodes }: { hasPassword: boolean; onCodes: (codes: string[]) => void }) {
  const [asksPassword, setAsksPassword] = useState(false)
  const [app, setApp] = useState<OutputOf<'two-factor.begin'>>()
  const begin = useAccountAct('two-factor.begin', {
    showsErrors: hasPassword,
    onDone(secret) {
      setAsksPassword(false)
      setApp(secret)
    },
  })
  const confirm = useAccountAct('two-factor.confirm', {
    showsErrors: true,
    onDone({ recovery_codes }) {
      setApp(undefined)
      onCodes(recovery_codes)
    },
  })
  return (
    <>
      <div className={classes.row}>
        <div className="secondary">
          Signing in with your password then also asks for a code of an authenticator app on your phone.
        </div>
        <Button variant="default" onClick={() => (hasPassword ? setAsksPassword(true) : begin.mutate({}))}>
          Turn on two-factor
        </Button>
      </div>
      <ConfirmPersonDialog
        asks="password"
        opened={asksPassword}
        title="Turn on two-factor"
        act="Continue"
        isBusy={begin.isPending}
        error={begin.error}
        onClose={() => setAsksPassword(false)}
        onConfirm={(password) => begin.mutate({ password })}
      >
        Enter your password first, so that another person at this browser cannot do it.
      </ConfirmPersonDialog>
      <EnrolApp
        app={app}
        act="Turn on two-factor"
        isBusy={confirm.isPending}
        error={confirm.error}
        onClose={() => setApp(undefined)}
        onConfirm={(code) => confirm.mutate({ code })}
      />
    </>
  )
}

function TurnedOn({
  security: { two_factor },
  onCodes,
}: {
  security: OutputOf<'account.show-security'>
  onCodes: (codes: string[]) => void
}) {
  const [asksFor, setAsksFor] = useState<'off' | 'codes'>()
  const close = () => setAsksFor(undefined)
  const turnOff = useAccountAct('two-factor.end', {
    showsErrors: true,
    says: 'Two-factor is off.',
    onDone: close,
  })
  const renew = useAccountAct('two-factor.renew-recovery-codes', {
    showsErrors: true,
    onDone({ recovery_codes }) {
      close()
      onCodes(recovery_codes)
    },
  })
  const left = two_factor.recovery_codes_left
  return (
    <div className={classes.row}>
      <div className="secondary">
        On since <Time at={two_factor.enabled_at!} as="date" />.{' '}
        {left === 1 ? 'One recovery code is left.' : `${left} recovery codes are left.`}
      </div>
      <div className={classes.row}>
        <Button variant="default" onClick={() => setAsksFor('codes')}>
          New recovery codes
        </Button>
        <Button variant="default" data-danger onClick={() => setAsksFor('off')}>
          Turn off
        </Button>
      </div>
      <ConfirmPersonDialog
        asks="code"
        opened={asksFor === 'codes'}
        title="New recovery codes"
        act="Make new codes"
        isBusy={renew.isPending}
        error={renew.error}
        onClose={close}
        onConfirm={(code) => renew.mutate({ code })}
      >
        The codes that you have now stop working.
      </ConfirmPersonDialog>
      <ConfirmPersonDialog
        asks="code"
        opened={asksFor === 'off'}
        title="Turn off two-factor"
        act="Turn off"
        isDanger
        isBusy={turnOff.isPending}
        error={turnOff.error}
        onClose={close}
        onConfirm={(code) => turnOff.mutate({ code })}
      >
        Your password alone then signs you in.
      </ConfirmPersonDialog>
    </div>
  )
}
