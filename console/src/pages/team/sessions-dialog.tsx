import { Button, Modal, Skeleton } from '@mantine/core'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { DialogFooter } from '../../components/dialog-footer.tsx'
import { Failed } from '../../components/failed.tsx'
import { signInMethod } from '../../components/sign-in-method.ts'
import { Time } from '../../components/time.tsx'
import { ReasonForm } from '../../drafts/ask-reason.tsx'
import classes from './team.module.css'
import type { Teammate } from './teammate.ts'

type Session = OutputOf<'team.list-sessions'>['sessions'][number]

/** The browsers in which an operator is signed in, each with a button that ends its session. */
export function SessionsDialog({ teammate, onClose }: { teammate: Teammate | undefined; onClose: () => void }) {
  return (
    <Modal opened={teammate !== undefined} onClose={onClose} title={`Sessions of ${teammate?.name ?? ''}`} size={560}>
      {teammate && <Sessions teammate={teammate} onClose={onClose} />}
    </Modal>
  )
}

function Sessions({ teammate, onClose }: { teammate: Teammate; onClose: () => void }) {
  const operator_id = teammate.id
  const query = useOperation('team.list-sessions', { operator_id })
  const [ending, setEnding] = useState<Session | 'all'>()
  const end = useAct('team.end-sessions', {
    says: ({ sessions_ended }) => (sessions_ended === 1 ? 'Ended a session.' : `Ended ${sessions_ended} sessions.`),
    onDone: () => setEnding(undefined),
  })
  if (query.error && !query.data) return <Failed error={query.error} onRetry={query.refetch} />
  if (!query.data) return <Skeleton height={40} />
  const { sessions } = query.data
  if (ending)
    return (
      <ReasonForm
        explanation={
          ending === 'all'
            ? `${teammate.name} is signed out everywhere at once and has to sign in again.`
            : `${teammate.name} is signed out in ${ending.device} (${ending.address}) at once.`
        }
        act={ending === 'all' ? `End ${sessions.length} sessions` : 'End session'}
        isDanger
        about={`end sessions ${ending === 'all' ? operator_id : ending.id}`}
        sending={end}
        onClose={() => setEnding(undefined)}
        onConfirm={(reason, draft) =>
          end.mutate({ operator_id, reason, ...(ending !== 'all' && { session_id: ending.id }) }, { draft })
        }
      />
    )
  return (
    <>
      {sessions.length === 0 ? (
        <p className="secondary">{teammate.name} is not signed in anywhere.</p>
      ) : (
        <ul className={classes.sessions}>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} onEnd={() => setEnding(session)} />
          ))}
        </ul>
      )}
      <DialogFooter>
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        {sessions.length > 1 && (
          <Button variant="default" data-danger onClick={() => setEnding('all')}>
            End all…
          </Button>
        )}
      </DialogFooter>
    </>
  )
}

function SessionRow({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const { device, address, method, last_used_at, is_this } = session
  return (
    <li>
      <div className={classes.words}>
        <div className="strong">
          {device} {is_this && <span className="dim">this browser</span>}
        </div>
        <div className="small dim">
          <code>{address}</code>, by {signInMethod(method)}, last used <Time at={last_used_at} as="relative" />
        </div>
      </div>
      <Button variant="default" size="xs" aria-label={`End the session of ${device}, ${address}`} onClick={onEnd}>
        End…
      </Button>
    </li>
  )
}
