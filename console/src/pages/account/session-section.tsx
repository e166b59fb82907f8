import { Button, Skeleton } from '@mantine/core'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAccountAct, useAccountOperation } from '../../api/use-operation.ts'
import { Failed } from '../../components/failed.tsx'
import { Section } from '../../components/section.tsx'
import { signInMethod } from '../../components/sign-in-method.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import classes from './account-page.module.css'

type Session = OutputOf<'account.list-sessions'>['sessions'][number]

/** The browsers in which the account is signed in, each with a way to end it. */
export function SessionSection() {
  const sessions = useAccountOperation('account.list-sessions', {})
  const endOthers = useAccountAct('account.end-other-sessions', {
    says: ({ ended }) => (ended === 1 ? 'The other session has ended.' : `${ended} other sessions have ended.`),
  })
  const others = sessions.data?.sessions.filter(({ is_this_one }) => !is_this_one).length ?? 0
  return (
    <Section
      title="Sessions"
      flush
      end={
        others > 0 && (
          <Button variant="default" size="xs" loading={endOthers.isPending} onClick={() => endOthers.mutate({})}>
            End all other sessions
          </Button>
        )
      }
      footer="A session ends after twelve hours without use, and after fourteen days in any case."
    >
      {sessions.error && !sessions.data && <Failed error={sessions.error} onRetry={() => sessions.refetch()} />}
      {sessions.isPending && <Skeleton height={56} />}
      <ul className={classes.list}>
        {sessions.data?.sessions.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
    </Section>
  )
}

function SessionRow({ session }: { session: Session }) {
  const end = useAccountAct('account.end-session', { says: 'The session has ended.' })
  const Icon = /iPhone|iPad|Android/.test(session.device) ? IconDeviceMobile : IconDeviceDesktop
  return (
    <li>
      <Icon size={20} stroke={1.5} />
      <div>
        <div className={classes.name}>
          {session.device}
          {session.is_this_one && <StateBadge tone="ok">This browser</StateBadge>}
        </div>
        <div className="small dim">
          <code>{session.address}</code>, signed in <Time at={session.created_at} /> by {signInMethod(session.method)},
          last used <Time at={session.last_used_at} as="relative" />
        </div>
      </div>
      {!session.is_this_one && (
        <Button
          variant="default"
          size="xs"
          loading={end.isPending}
          aria-label={`End the session of ${session.device}`}
          onClick={() => end.mutate({ session_id: session.id })}
        >
          End
        </Button>
      )}
    </li>
  )
}
