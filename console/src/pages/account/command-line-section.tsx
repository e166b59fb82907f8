import { Button } from '@mantine/core'
import { IconTerminal2 } from '@tabler/icons-react'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAccountAct, useAccountOperation } from '../../api/use-operation.ts'
import { Failed } from '../../components/failed.tsx'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import classes from './account-page.module.css'
import { ConfirmPersonDialog } from './confirm-person-dialog.tsx'
import { EnrolApp } from './enrol-app.tsx'

type Organization = OutputOf<'command-line-codes.show'>['organizations'][number]

/** Codes that prove at the command line who acts, set up here by their own person. */
export function CommandLineSection({ hasPassword }: { hasPassword: boolean }) {
  const query = useAccountOperation('command-line-codes.show', {})
  const organizations = query.data?.organizations ?? []
  return (
    <Section title="Command line">
      {query.error && <Failed error={query.error} onRetry={() => query.refetch()} />}
      <div className={classes.sections}>
        {organizations.map((organization) => (
          <OwnCodes
            key={organization.id}
            organization={organization}
            isNamed={organizations.length > 1}
            hasPassword={hasPassword}
          />
        ))}
      </div>
    </Section>
  )
}

function OwnCodes({
  organization: { id, name, has_codes },
  isNamed,
  hasPassword,
}: {
  organization: Organization
  /** Whether the account acts for several organizations. */
  isNamed: boolean
  hasPassword: boolean
}) {
  const [asksPassword, setAsksPassword] = useState(false)
  const [app, setApp] = useState<OutputOf<'command-line-codes.begin'>>()
  const begin = useAccountAct('command-line-codes.begin', {
    showsErrors: hasPassword,
    onDone(proposed) {
      setAsksPassword(false)
      setApp(proposed)
    },
  })
  const confirm = useAccountAct('command-line-codes.confirm', {
    showsErrors: true,
    says: 'The command line takes the codes of this app from now on.',
    onDone: () => setApp(undefined),
  })
  const act = has_codes ? 'Replace codes' : 'Set up codes'
  return (
    <div className={classes.row}>
      <div className="secondary">
        {isNamed && <b>{name}: </b>}
        {has_codes
          ? 'The command line asks for a code of your authenticator app where two people have to act.'
          : 'Without codes you can neither vouch for an operator nor approve anything at the command line.'}{' '}
        {has_codes && (
          <StateBadge tone="ok" icon={<IconTerminal2 size={14} stroke={1.75} />}>
            Set up
          </StateBadge>
        )}
      </div>
      <Button
        variant="default"
        aria-label={isNamed ? `${act} for ${name}` : act}
        onClick={() => (hasPassword ? setAsksPassword(true) : begin.mutate({ organization_id: id }))}
      >
        {act}
      </Button>
      <ConfirmPersonDialog
        asks="password"
        opened={asksPassword}
        title={`${act} for the command line`}
        act="Continue"
        isBusy={begin.isPending}
        error={begin.error}
        onClose={() => setAsksPassword(false)}
        onConfirm={(password) => begin.mutate({ organization_id: id, password })}
      >
        {has_codes
          ? 'The codes that you have now stop working with the first code of the new app.'
          : 'Enter your password first, so that another person at this browser cannot do it.'}
      </ConfirmPersonDialog>
      <EnrolApp
        app={app}
        act={act}
        isBusy={confirm.isPending}
        error={confirm.error}
        onClose={() => setApp(undefined)}
        onConfirm={(code) => confirm.mutate({ organization_id: id, pending: app!.pending, code })}
      />
    </div>
  )
}
