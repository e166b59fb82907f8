import { findFeature } from '../core/facts/feature-catalogue.ts'
import type { PersonalField, PersonalFields } from './projection.ts'

/** What a person wrote in a review. */
const REVIEW_TEXTS = ['conditions', 'reason']

/** A feature of a snapshot, or one that a policy computes from others; the texts of the catalogue's features are words of ours. */
const isOwn = ({ feature, name }: Readonly<Record<string, unknown>>) => {
  const text = String(feature ?? name)
  return findFeature(text) === undefined && !text.startsWith('request.')
}

function under(path: string, members: readonly string[]): string[] {
  return members.map((member) => `${path}.${member}`)
}

/** A view of a decision or of a dry run. */
function viewAt(path: string): Required<Pick<PersonalFields, 'names' | 'transactions' | 'text'>> {
  const text: PersonalField[] = [
    { path: `${path}.features.*.value`, where: isOwn },
    { path: `${path}.rules.*.values.*.value`, where: isOwn },
    { path: `${path}.evidence.scorecard.*.value`, where: isOwn },
  ]
  return {
    names: under(path, ['entity.name', 'merged.*.name', 'graph.paths.*.entity.name']),
    transactions: [`${path}.account`],
    text,
  }
}

/** A case of the queue. */
function caseAt(path: string): Required<Pick<PersonalFields, 'names' | 'text'>> {
  const at = path === '' ? '' : `${path}.`
  return { names: [`${at}entity.name`], text: [`${at}end.reason`, `${at}end.conditions`] }
}

const [LISTED_CASE, SHOWN_CASE] = [caseAt('cases.*'), caseAt('')]
const [SHOWN_VIEW, DRY_VIEW] = [viewAt('view'), viewAt('results.*.view')]

/** Entries about applicants give a reason; entries about policies, keys and people do, and that is not about an applicant. */
const aboutEntity = (data: Readonly<Record<string, unknown>>) => 'entity_id' in data

/**
 * What each operation says of applicants that not every role sees. An operation that is not listed says nothing of the kind;
 * `need-to-know.test.ts` stores every text of a person and reads it by every operation.
 */
export const PERSONAL_FIELDS: Readonly<Record<string, PersonalFields>> = {
  'audit-log.list': { text: [{ path: 'entries.*.data.reason', where: aboutEntity }] },
  'audit-log.export': { text: [{ path: 'entries.*.data.reason', where: aboutEntity }] },
  'audit-log.show-entry': { text: [{ path: 'data.reason', where: aboutEntity }] },
  'cases.list': LISTED_CASE,
  'cases.show': {
    names: [...SHOWN_CASE.names, 'paths.*.name', 'credit.waiting.*.name'],
    text: [
      ...SHOWN_CASE.text,
      ...under('signed', ['reason', 'verdicts.*.conditions']),
      ...under('prior.*', ['reason', 'conditions']),
      ...under('decisions.*.review', ['reason', 'conditions']),
      'notes.*.text',
    ],
  },
  'decisions.list': { names: ['decisions.*.entity.name'], text: under('decisions.*.review', REVIEW_TEXTS) },
  'decisions.export': { names: ['decisions.*.entity.name'], text: under('decisions.*.review', REVIEW_TEXTS) },
  'decisions.replay': { text: under('differences.*', ['recorded', 'replayed']) },
  'decisions.show': {
    ...SHOWN_VIEW,
    text: [
      ...SHOWN_VIEW.text,
      ...under('replay.differences.*', ['recorded', 'replayed']),
      ...under('since.reviews.*', REVIEW_TEXTS),
      'since.outcomes.*.override_note',
    ],
  },
  'deliveries.show': { text: ['attempts.*.response'] },
  'entities.find': { names: ['entities.*.name'] },
  'entities.list': { names: ['entities.*.name'] },
  'entities.show': {
    names: ['name', 'relationships.*.entity_name'],
    identifiers: ['identifiers.*.masked', 'identifiers.*.issuer', 'accounts.*.masked'],
    transactions: ['cashflow', 'accounts'],
    text: [
      'metadata',
      'sources.*.name',
      { path: 'features.*.value', where: isOwn },
      ...under('decisions.*.review', REVIEW_TEXTS),
    ],
  },
  'entities.show-neighbourhood': { names: ['nodes.*.name'] },
  'entity-erasure.show': { text: ['hold.reason', 'proposals.*.reason'] },
  'entity-merges.show': {
    names: ['others.*.name', 'candidates.*.name', 'proposals.*.subject.name', 'proposals.*.members.*.name'],
    text: ['proposals.*.reason'],
  },
  'overview.show': { names: ['newest.*.entity.name'], text: under('newest.*.review', REVIEW_TEXTS) },
  'playground.decide': DRY_VIEW,
}
