import { Button, Progress } from '@mantine/core'
import { IconAlertOctagon, IconShieldCheck, IconShieldQuestion } from '@tabler/icons-react'
import type { OutputOf } from '../../api/operation-types.ts'
import { usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { Failed } from '../../components/failed.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { writeCount } from '../../components/write-number.ts'
import classes from './audit-log-page.module.css'

type Status = OutputOf<'audit-log.show-status'>

const WATCH_EVERY_MS = 1_000
const READ_EVERY_MS = 15_000

/** Whether the log is proved, since when and by whom; its signed head; and the button that verifies it now. */
export function LogStatus() {
  const query = useOperation('audit-log.show-status', {}, { refetchIntervalMs: READ_EVERY_MS })
  const status = query.data
  // A second reader, which asks often while a verification runs; both share one answer.
  useOperation('audit-log.show-status', {}, { refetchIntervalMs: WATCH_EVERY_MS, enabled: status?.running != null })
  const verify = useAct('audit-log.verify')
  const mayVerify = usePermission('verify the audit log')
  if (query.error && !status)
    return (
      <div className={classes.status}>
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      </div>
    )
  return (
    <Section className={classes.status}>
      <div className={classes.proof}>
        {status?.verified?.intact === false ? (
          <IconAlertOctagon size={28} stroke={1.5} className="text-decline" />
        ) : status?.verified ? (
          <IconShieldCheck size={28} stroke={1.5} className="text-ok" />
        ) : (
          <IconShieldQuestion size={28} stroke={1.5} className="dim" />
        )}
        <div className={classes.proofWords}>
          <div>{status ? <Verdict status={status} /> : 'Reading the state of the log…'}</div>
          <Head head={status?.head} />
        </div>
        {mayVerify && (
          <Button
            variant="default"
            disabled={!status}
            loading={verify.isPending || status?.running != null}
            onClick={() => verify.mutate({})}
          >
            Verify now
          </Button>
        )}
        {status?.running && <Running running={status.running} />}
      </div>
      {status?.verified?.intact === false && <Problems verified={status.verified} />}
    </Section>
  )
}

function Verdict({ status: { verified, failure, head } }: { status: Status }) {
  if (!verified)
    return (
      <>
        <b>Not verified yet.</b> {failure ?? 'Verifying recomputes every hash and compares every record behind it.'}
      </>
    )
  const since = head ? head.size - verified.leaves : 0
  return (
    <>
      {verified.intact ? (
        <b>
          Verified: {writeCount(verified.leaves)} entries and {writeCount(verified.records_compared)} records are as
          they were recorded
          {verified.records_erased > 0 &&
            `; ${writeCount(verified.records_erased)} records were erased, as two people approved`}
        </b>
      ) : verified.lost_after === null ? (
        <b className="text-decline">Altered: the log or records behind it are not as they were recorded</b>
      ) : (
        <b className="text-decline">
          Entries lost: of those that were signed, the database has at most the first {writeCount(verified.lost_after)}
        </b>
      )}
      <span className="secondary">
        {' '}
        · <Time at={verified.at} />, by {verified.by.name ?? verified.by.id}
        {since > 0 && `, ${writeCount(since)} ${since === 1 ? 'entry' : 'entries'} since`}
      </span>
      {failure && <div className="text-review small">{failure}</div>}
    </>
  )
}

function Head({ head }: { head: Status['head'] | undefined }) {
  if (!head) return null
  return (
    <div className={classes.head}>
      <span>
        Signed head of <b className="num">{writeCount(head.size)}</b> entries
      </span>
      <span>
        signed <Time at={head.signed_at} />
      </span>
      <span>
        root <CopyableId id={head.root_hash} short />
      </span>
    </div>
  )
}

function Running({ running }: { running: NonNullable<Status['running']> }) {
  const share = running.of > 0 ? (running.leaves / running.of) * 100 : 0
  return (
    <div className={classes.progress}>
      <Progress value={share} aria-label="Verification" size="sm" />
      <span className="small dim" role="status">
        {running.of > 0
          ? `${writeCount(running.leaves)} of ${writeCount(running.of)} entries verified, started by ${running.by.name ?? running.by.id}`
          : 'The verification starts'}
      </span>
    </div>
  )
}

function Problems({ verified }: { verified: NonNullable<Status['verified']> }) {
  return (
    <>
      <ul className={classes.problems}>
        {verified.problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
      {verified.problems_count > verified.problems.length && (
        <p className="small">
          {writeCount(verified.problems_count - verified.problems.length)} more. <code>audit verify</code> on the
          command line lists them.
        </p>
      )}
    </>
  )
}
