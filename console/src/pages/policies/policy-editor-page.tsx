import { Button, Modal, Skeleton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSend } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { OutputOf, PlaceName } from '../../api/operation-types.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { DialogFooter } from '../../components/dialog-footer.tsx'
import { Failed } from '../../components/failed.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useGoTo } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { writeCount } from '../../components/write-number.ts'
import { AskReason } from '../../drafts/ask-reason.tsx'
import { OlderDraft } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import { OwnTests } from './own-tests.tsx'
import classes from './policies.module.css'
import { RuleMatches } from './readable-policy.tsx'
import { TablePicture } from './table-picture.tsx'
import { unmatchedWords } from './unmatched-rules.tsx'
import { WhatChanges } from './what-changes.tsx'

const PARENT = { title: 'Policies', path: 'policies' } as const
const TITLE = 'Write a version'
/** How long the author rests before the text is checked. */
const CHECK_AFTER_MS = 600
/** The newest decisions on which the rules of a draft are tried. */
const TRIED = 1_000
const YamlEditor = lazy(() => import('./yaml-editor.tsx'))

type Checked = OutputOf<'policies.check'>

/** The editor of a new version: problems, tests, changes and matches follow the text as it is typed. */
export function PolicyEditorPage() {
  const [search] = usePageSearch('policies/new')
  const from = search.from ?? ''
  const isCalibrated = search.calibrated === '1' && from !== ''
  const written = useOperation('policies.show', { version: from }, { enabled: from !== '' && !isCalibrated })
  const calibrated = useOperation('policy-calibration.draft', { version: from }, { enabled: isCalibrated })
  const query = isCalibrated ? calibrated : written
  if (from !== '' && query.error)
    return (
      <>
        <PageHeader title={TITLE} parent={PARENT} />
        <Failed error={query.error} onRetry={query.refetch} />
      </>
    )
  const isRead = isCalibrated ? calibrated.data !== undefined : written.data?.policy.version === from
  if (from !== '' && !isRead)
    return (
      <>
        <PageHeader title={TITLE} parent={PARENT} />
        <Skeleton height={480} />
      </>
    )
  const about = isCalibrated ? `${from} calibrated` : from
  return <Editor key={about} about={about} from={from} text={query.data?.source ?? ''} />
}

/** `about` names the draft: that of a calibrated version is another one. */
function Editor({ about, from, text }: { about: string; from: string; text: string }) {
  const draft = useDraft(`policy from ${about}`, from === '' ? text : nextVersion(text, from))
  const source = draft.value
  const [settled] = useDebouncedValue(source, CHECK_AFTER_MS)
  const language = useOperation('policies.show-language', {})
  const check = useOperation('policies.check', { source: settled }, { enabled: settled.trim() !== '' })
  const checked = check.data
  const isSound = checked !== undefined && checked.problems.length === 0
  const tried = useOperation(
    'policy-backtests.try',
    { source: settled, last: TRIED },
    { enabled: isSound && !check.isFetching },
  )
  return (
    <>
      <PageHeader
        title={TITLE}
        parent={PARENT}
        below={
          <>
            {from === '' ? 'Paste or write the YAML of a policy.' : `Begins as ${from}, under a name of its own.`}{' '}
            {draft.isKept && <DraftLine onDiscard={draft.discard} />}
          </>
        }
      >
        <Propose
          source={source}
          checked={checked}
          isCurrent={source === settled && !check.isFetching}
          onProposed={draft.discard}
        />
      </PageHeader>
      <OlderDraft draft={draft} />
      <div className={classes.layout}>
        <div className={classes.column}>
          <Section flush title="Policy" end={<CheckState check={check} isTyping={source !== settled} />}>
            <Suspense fallback={<Skeleton height={480} />}>
              <YamlEditor
                label="The text of the policy"
                text={source}
                onChange={draft.change}
                problems={checked ? [...checked.problems, ...checked.warnings] : []}
                language={language.data}
              />
            </Suspense>
          </Section>
          {check.error && <Failed what="This text was not checked" error={check.error} onRetry={check.refetch} />}
          {checked && <Problems checked={checked} />}
          {tablesIn(checked).map((table) => (
            <Section key={table.table} flush title={`Table ${table.table.replaceAll('_', ' ')}`} sub={table.label}>
              <TablePicture table={table} />
            </Section>
          ))}
        </div>
        <div className={classes.column}>
          {checked?.compared && <WhatChanges compared={{ ...checked.compared, source: '' }} />}
          {isSound && <Matches trial={tried} />}
          {checked && <OwnTests tests={checked.tests} coverage={checked.coverage} />}
        </div>
      </div>
    </>
  )
}

/** The tables of a policy and of its segments. */
function tablesIn(checked: Checked | undefined) {
  const { document } = checked ?? {}
  return document ? [document, ...(document.segments ?? [])].flatMap(({ tables = [] }) => tables) : []
}

type Query<N extends PlaceName> = ReturnType<typeof useOperation<N>>

function CheckState({ check, isTyping }: { check: Query<'policies.check'>; isTyping: boolean }) {
  const { data: checked, error, isFetching } = check
  const words =
    isFetching || isTyping
      ? 'Checking …'
      : checked === undefined
        ? error
          ? 'Not checked'
          : ''
        : checked.problems.length > 0
          ? `${checked.problems.length} problems`
          : 'No problems'
  return (
    <span className="small dim" role="status">
      {words}
    </span>
  )
}

function Problems({ checked: { problems, warnings } }: { checked: Checked }) {
  if (problems.length + warnings.length === 0) return null
  return (
    <Section title="Problems" flush>
      <ul className={classes.problems}>
        {[...problems, ...warnings].map(({ line, column, message, isWarning }) => (
          <li key={`${line}:${column} ${message}`}>
            <span className="mono dim">
              {line}:{column}
            </span>{' '}
            {isWarning ? 'Warning: ' : ''}
            {message}
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** How many of the newest decisions each rule matches, and what would change. */
function Matches({ trial }: { trial: Query<'policy-backtests.try'> }) {
  const { data: tried, error, refetch } = trial
  if (error) return <Failed what="This text was not tried on decisions" error={error} onRetry={refetch} />
  if (!tried) return null
  const matching = tried.rules.filter(({ matched }) => matched > 0)
  return (
    <Section
      title="On the newest decisions"
      sub={`${writeCount(tried.decided)} decided again, ${writeCount(tried.changed)} changed`}
      flush
    >
      <p className={`${classes.note} small secondary`}>
        Approved: {writeCount(tried.approved_before)} as decided, {writeCount(tried.approved_after)} under this text.
      </p>
      <ul className={classes.problems}>
        {matching.map((match) => (
          <li key={match.rule}>
            <code>{match.rule}</code> <RuleMatches match={match} />
          </li>
        ))}
      </ul>
      <p className={`${classes.note} small secondary`}>{unmatchedWords(tried)}</p>
    </Section>
  )
}

/** Says that the text is kept, and lets the author throw it away. */
function DraftLine({ onDiscard }: { onDiscard: () => void }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <span role="status" className="nowrap">
      Draft kept in this browser ·{' '}
      <button type="button" className={classes.discard} onClick={() => setIsOpen(true)}>
        discard
      </button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Discard the draft" size={440}>
        <p className="secondary">What you wrote is lost, and the editor begins again.</p>
        <DialogFooter>
          <Button variant="default" onClick={() => setIsOpen(false)}>
            Keep it
          </Button>
          <Button data-danger onClick={onDiscard}>
            Discard draft
          </Button>
        </DialogFooter>
      </Modal>
    </span>
  )
}

function Propose({
  source,
  checked,
  isCurrent,
  onProposed,
}: {
  source: string
  checked: Checked | undefined
  isCurrent: boolean
  onProposed: () => void
}) {
  const [isOpen, setIsOpen] = useState(false)
  const goTo = useGoTo()
  const propose = useAct('policies.propose', {
    says: ({ version }) => `${version} is proposed. Another person has to approve it.`,
    onDone: ({ version }) => {
      onProposed()
      goTo({ to: `policies/${version}` })
    },
  })
  const failing = checked?.tests.some(({ failures }) => failures.length > 0)
  const isReady = isCurrent && checked?.document && checked.tests.length > 0 && !failing && !checked.is_version_taken
  return (
    <>
      {checked?.is_version_taken && (
        <span className="small text-review">{checked.version} exists: choose another version</span>
      )}
      <Button leftSection={<IconSend size={16} stroke={1.75} />} disabled={!isReady} onClick={() => setIsOpen(true)}>
        Propose
      </Button>
      <AskReason
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        title={`Propose ${checked?.version ?? ''}`}
        explanation="A proposed version never changes. Another person approves it, then it can be activated."
        act="Propose"
        about={`propose ${checked?.version ?? ''}`}
        sending={propose}
        onConfirm={(reason, draft) => propose.mutate({ source, reason }, { draft })}
      />
    </>
  )
}

/** The text under the next free-looking name: `lending-2` after `lending-1`, `policy-v1-2` after `policy-v1`. */
function nextVersion(text: string, from: string): string {
  const numbered = /^(.*-)(\d+)$/.exec(from)
  const next = numbered ? `${numbered[1]}${Number(numbered[2]) + 1}` : `${from}-2`
  return text.replace(/^version:.*$/m, `version: ${next}`)
}
