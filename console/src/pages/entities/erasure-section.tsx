import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { PageLink, useGoTo } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { AskReason } from '../../drafts/ask-reason.tsx'
import classes from './entities.module.css'

type Erasure = OutputOf<'entity-erasure.show'>
type Proposal = Erasure['proposals'][number]
type Obstacle = Erasure['obstacles'][number]
type Effect = Proposal['effect']

/** The act that a dialog asks a reason for. */
interface Asked {
  effect: Effect
  move: 'propose' | 'approve' | 'withdraw'
}

/** What each step is called where it waits, and on the buttons that begin it. */
const WORDS: Record<Effect, { proposed: string; title: string; act: string }> = {
  erased: { proposed: 'Proposed to erase this person', title: 'Erase a person', act: 'Erase' },
  held: { proposed: 'Proposed a legal hold', title: 'Set a legal hold', act: 'Set hold' },
  lifted: { proposed: 'Proposed to lift the legal hold', title: 'Lift a legal hold', act: 'Lift hold' },
}

/** What stands against erasing the person behind an entity, the legal hold, and what waits for a second person. */
export function ErasureSection({ entityId, name }: { entityId: string; name: string }) {
  const { data } = useOperation('entity-erasure.show', { entity_id: entityId })
  const mayErase = usePermission('erase entities')
  const mayHold = usePermission('set and lift legal holds')
  const [asked, setAsked] = useState<Asked>()
  if (data?.entity_id !== entityId) return null
  const { obstacles, hold, proposals } = data
  // The hold and its proposal have lines of their own.
  const others = obstacles.filter(({ code }) => code !== 'legal_hold' && code !== 'hold_proposed')
  const may = (effect: Effect) => (effect === 'erased' ? mayErase : mayHold)
  const isProposed = (effect: Effect) => proposals.some((one) => one.effect === effect)
  const begin = (effect: Effect) => may(effect) && !isProposed(effect)
  return (
    <Section title="Erasure and legal hold" sub="by two people" flush>
      <ul className={classes.rows}>
        {hold && (
          <li>
            <span>
              On legal hold, and so not erased
              <Said reason={hold.reason} by={hold.set_by} at={hold.set_at} />
            </span>
            {begin('lifted') && <Begin effect="lifted" onAsk={setAsked} />}
          </li>
        )}
        {proposals.map((proposal) => (
          <li key={proposal.effect}>
            <Proposed proposal={proposal} />
            {may(proposal.effect) && <Decide proposal={proposal} onAsk={setAsked} />}
          </li>
        ))}
        {others.map((obstacle) => (
          <li key={obstacle.code}>
            <Against obstacle={obstacle} />
          </li>
        ))}
      </ul>
      {!hold && (
        <Stack gap="xs" className={classes.padded}>
          {obstacles.length === 0 && <p className="secondary">Nothing stands against erasing this person.</p>}
          <Group gap="xs">
            {obstacles.length === 0 && begin('erased') && <Begin effect="erased" onAsk={setAsked} />}
            {begin('held') && <Begin effect="held" onAsk={setAsked} />}
          </Group>
        </Stack>
      )}
      <AskWhy
        key={asked && `${asked.effect} ${asked.move}`}
        entityId={entityId}
        name={name}
        asked={asked}
        onClose={() => setAsked(undefined)}
      />
    </Section>
  )
}

function Begin({ effect, onAsk }: { effect: Effect; onAsk: (asked: Asked) => void }) {
  return (
    <Button size="xs" variant="default" onClick={() => onAsk({ effect, move: 'propose' })}>
      {WORDS[effect].act}…
    </Button>
  )
}

/** The buttons of a proposal: another person approves it, and any withdraws it. */
function Decide({ proposal: { effect, is_own }, onAsk }: { proposal: Proposal; onAsk: (asked: Asked) => void }) {
  return (
    <Group gap="xs">
      {!is_own && (
        <Button size="xs" variant="default" onClick={() => onAsk({ effect, move: 'approve' })}>
          Approve
        </Button>
      )}
      <Button size="xs" variant="default" onClick={() => onAsk({ effect, move: 'withdraw' })}>
        Withdraw
      </Button>
    </Group>
  )
}

function Proposed({ proposal: { effect, reason, proposed_by, is_own, proposed_at } }: { proposal: Proposal }) {
  return (
    <span>
      {WORDS[effect].proposed}
      <Said reason={reason} by={is_own ? 'you' : proposed_by} at={proposed_at} />
      {is_own && <span className={classes.below}>Another person has to approve it.</span>}
    </span>
  )
}

function Said({ reason, by, at }: { reason: string | null; by: string; at: string }) {
  return (
    <span className={classes.below}>
      {reason === null ? 'The reason was altered.' : `“${reason}”`} {by}, <Time at={at} as="relative" />
    </span>
  )
}

/** What stands against an erasure, with links to what settles it. */
function Against({ obstacle: { code, message, ids } }: { obstacle: Obstacle }) {
  return (
    <span>
      Not erased while {message}
      {ids.map((id) => (
        <span key={id} className={classes.below}>
          {code === 'open_case' && (
            <PageLink to="review-queue" search={{ case: id }}>
              Open the case
            </PageLink>
          )}
          {(code === 'open_credit' || code === 'open_offer') && <PageLink to={`decisions/${id}`}>{id}</PageLink>}
          {code === 'merged' && <PageLink to={`entities/${id}`}>{id}</PageLink>}
        </span>
      ))}
    </span>
  )
}

/** Asks why, and takes the step; the approval of an erasure asks for the name too, because nothing brings the person back. */
function AskWhy({
  entityId,
  name,
  asked,
  onClose,
}: {
  entityId: string
  name: string
  asked: Asked | undefined
  onClose: () => void
}) {
  const goTo = useGoTo()
  const says = ({ state }: { state: 'proposed' | 'approved' | 'withdrawn' }) => SAID[state]
  const erase = useAct('entity-erasure.erase', {
    says: ({ state }) => (state === 'approved' ? 'Erased. What was stored is deleted within minutes.' : SAID[state]),
    onDone: ({ state }) => {
      onClose()
      if (state === 'approved') goTo({ to: 'entities' })
    },
  })
  const hold = useAct('entity-erasure.hold', { says, onDone: onClose })
  const lift = useAct('entity-erasure.lift', { says, onDone: onClose })
  const sending = { erased: erase, held: hold, lifted: lift }[asked?.effect ?? 'erased']
  const { title, act } = WORDS[asked?.effect ?? 'erased']
  const isFinal = asked?.effect === 'erased' && asked.move === 'approve'
  return (
    <AskReason
      opened={asked !== undefined}
      onClose={onClose}
      title={asked?.move === 'withdraw' ? 'Withdraw the proposal' : title}
      explanation={asked && explanationOf(asked)}
      act={asked?.move === 'withdraw' ? 'Withdraw' : act}
      about={`${asked?.effect} ${asked?.move} ${entityId}`}
      word={isFinal ? name : undefined}
      sending={sending}
      onConfirm={(reason, draft) =>
        asked && sending.mutate({ entity_id: entityId, move: asked.move, reason }, { draft })
      }
    />
  )
}

const SAID = {
  proposed: 'Proposed. Another person has to approve it.',
  approved: 'Done.',
  withdrawn: 'Withdrawn.',
} as const

function explanationOf({ effect, move }: Asked): string {
  if (move === 'withdraw') return 'The proposal ends. What it would have changed stays as it is.'
  const second = move === 'propose' ? ' It takes effect once a second person has approved it.' : ''
  if (effect === 'held') return `While the hold stands, this person cannot be erased.${second}`
  if (effect === 'lifted') return `The person can be erased again.${second}`
  return `Names, identifiers, transactions and texts are deleted for good, and the external id is free again. Nothing brings them back. The reason stays on the audit log: name the request in it, and not the person.${second}`
}
