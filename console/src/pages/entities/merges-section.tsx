import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { PageLink } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { AskReason } from '../../drafts/ask-reason.tsx'
import classes from './entities.module.css'

type Merges = OutputOf<'entity-merges.show'>
type Named = Merges['others'][number]
type Proposal = Merges['proposals'][number]

/** The act that a dialog asks a reason for. */
type Asked = { act: 'merge'; other: string; name: string } | { act: 'separate'; subject: Named }

/** The entities that are read as one with this one, what waits for a second person, and what may be its duplicates. */
export function MergesSection({ entityId }: { entityId: string }) {
  const { data } = useOperation('entity-merges.show', { entity_id: entityId })
  const mayMerge = usePermission('merge entities')
  const [asked, setAsked] = useState<Asked>()
  if (data?.entity_id !== entityId) return null
  const { others, candidates, proposals } = data
  return (
    <Section title="Duplicates" sub="read as one by decisions" flush>
      <ul className={classes.rows}>
        {others.map((other) => (
          <li key={other.id}>
            <Identified entity={other} below="merged with this one" />
          </li>
        ))}
        {proposals.map((proposal) => (
          <li key={`${proposal.effect} ${proposal.subject.id} ${proposal.proposed_at}`}>
            <Proposed proposal={proposal} />
            {mayMerge && !proposal.is_own && (
              <Button size="xs" variant="default" onClick={() => setAsked(confirming(proposal, data))}>
                Confirm
              </Button>
            )}
          </li>
        ))}
        {candidates.map((candidate) => (
          <li key={candidate.id}>
            <Identified entity={candidate} below="has an identifier of this one" />
            {mayMerge && (
              <Button
                size="xs"
                variant="default"
                onClick={() => setAsked({ act: 'merge', other: candidate.id, name: candidate.name })}
              >
                Merge
              </Button>
            )}
          </li>
        ))}
      </ul>
      {mayMerge && <MergeWith onAsk={(other) => setAsked({ act: 'merge', other, name: other })} />}
      {mayMerge && others.length > 0 && (
        <div className={classes.padded}>
          <Button
            size="xs"
            variant="default"
            onClick={() =>
              setAsked({ act: 'separate', subject: { id: entityId, name: 'this entity', external_id: null } })
            }
          >
            Tell apart
          </Button>
        </div>
      )}
      <AskWhy
        key={asked && JSON.stringify(asked)}
        entityId={entityId}
        asked={asked}
        onClose={() => setAsked(undefined)}
      />
    </Section>
  )
}

/** What a second person does to confirm: the same as the first. */
function confirming({ effect, subject, members }: Proposal, { entity_id, others }: Merges): Asked {
  if (effect === 'separated') return { act: 'separate', subject }
  const known = [entity_id, ...others.map(({ id }) => id)]
  const other = members.find(({ id }) => !known.includes(id)) ?? subject
  return { act: 'merge', other: other.id, name: other.name }
}

function Identified({ entity: { id, name, external_id }, below }: { entity: Named; below: string }) {
  return (
    <span>
      <PageLink to={`entities/${id}`}>{name}</PageLink>{' '}
      {external_id && external_id !== name && <span className="dim mono">{external_id}</span>}
      <span className={classes.below}>{below}</span>
    </span>
  )
}

function Proposed({
  proposal: { effect, subject, members, reason, proposed_by, is_own, proposed_at },
}: {
  proposal: Proposal
}) {
  const names = members.map(({ name }) => name).join(', ')
  return (
    <span>
      {effect === 'merged' ? `Proposed to merge ${names}` : `Proposed to tell ${subject.name} apart from ${names}`}
      <span className={classes.below}>
        “{reason}” {is_own ? 'you' : proposed_by}, <Time at={proposed_at} as="relative" />
        {is_own && '. Another person has to confirm it.'}
      </span>
    </span>
  )
}

/** A field for the id of another entity. */
function MergeWith({ onAsk }: { onAsk: (other: string) => void }) {
  const [other, setOther] = useState('')
  return (
    <form
      className={classes.padded}
      onSubmit={(event) => {
        event.preventDefault()
        if (other.trim() !== '') onAsk(other.trim())
      }}
    >
      <TextInput
        label="Merge with"
        description="The id or the external id of the same person's other entity"
        autoComplete="off"
        spellCheck={false}
        value={other}
        onChange={(event) => setOther(event.currentTarget.value)}
        rightSectionWidth={76}
        rightSection={
          <Button type="submit" size="compact-xs" variant="default" disabled={other.trim() === ''}>
            Merge…
          </Button>
        }
      />
    </form>
  )
}

/** Asks why, and merges or tells apart; the first of two people only proposes it. */
function AskWhy({ entityId, asked, onClose }: { entityId: string; asked: Asked | undefined; onClose: () => void }) {
  const says = ({ state }: { state: 'proposed' | 'done' }) =>
    state === 'done' ? 'Done. Decisions read it so from now on.' : 'Proposed. Another person has to confirm it.'
  const merge = useAct('entity-merges.merge', { says, onDone: onClose })
  const separate = useAct('entity-merges.separate', { says, onDone: onClose })
  return (
    <>
      <AskReason
        opened={asked?.act === 'merge'}
        onClose={onClose}
        title="Merge two entities"
        explanation={
          asked?.act === 'merge' &&
          `Decisions about this entity and ${asked.name} are made from the facts of both, once a second person has confirmed it. No fact moves, so it can be undone.`
        }
        act="Merge"
        about={`merge ${entityId} ${asked?.act === 'merge' ? asked.other : ''}`}
        sending={merge}
        onConfirm={(reason, draft) =>
          asked?.act === 'merge' && merge.mutate({ entity_id: entityId, other: asked.other, reason }, { draft })
        }
      />
      <AskReason
        opened={asked?.act === 'separate'}
        onClose={onClose}
        title="Tell an entity apart"
        explanation={
          asked?.act === 'separate' &&
          `Decisions read ${asked.subject.name} alone again, once a second person has confirmed it. Its facts are all its own.`
        }
        act="Tell apart"
        about={`separate ${asked?.act === 'separate' ? asked.subject.id : ''}`}
        sending={separate}
        onConfirm={(reason, draft) =>
          asked?.act === 'separate' && separate.mutate({ entity_id: asked.subject.id, reason }, { draft })
        }
      />
    </>
  )
}
