import type { Installation } from '../installation/installation.ts'
import { findOperatorById } from '../store/control/operators.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import type { RecordedReview } from '../underwriting/review-decision.ts'
import { contextOf, type EnvironmentAct, type OperatorActor, permitted, type Reasoned } from './act.ts'
import { pairsOf } from './case-verdicts.ts'
import { beyondLimitsOf, readForVerdict, recordReviews, signedVerdictOf } from './decide-case.ts'
import { ATTEMPTS_MAX, asSeen, caseBusy, caseTaken, openCase } from './manage-cases.ts'
import { isSamePerson } from './permissions.ts'
import { conflict, forbidden, type Problem } from './problem.ts'
import { isStanding } from './standing-operator.ts'

/** A signature that waits for a second person, as that person saw it. */
export interface SeenSignature {
  /** The id of the case. */
  id: string
  signatureId: string
}

/**
 * Signs a case as the second person: its requests get the verdicts of the first signature, unchanged. The reviews name the
 * second person, who made them happen, and have the reason of the first; the log has both.
 */
export const signCase = permitted(
  'review decisions',
  async (
    installation,
    act: EnvironmentAct<OperatorActor>,
    seen: SeenSignature,
  ): Promise<{ reviews: RecordedReview[] }> => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { found, signature } = await signatureDue(installation, act, seen)
      if (found.assignee_id !== null && found.assignee_id !== act.by.operator.id)
        throw await caseTaken(installation, act, found)
      await requireSecondPerson(installation, act, signature)
      const { verdicts, reason, isTotalConfirmed } = signedVerdictOf(signature)
      const read = await readForVerdict(installation, act, found)
      const pairs = pairsOf(read.waiting, verdicts)
      const [beyond] = await beyondLimitsOf(installation, act, { pairs, as: 'second' })
      if (beyond)
        throw forbidden(
          'approval_limit_exceeded',
          `You may sign second for up to ${beyond.limit} ${beyond.currency}, and this is ${beyond.amount}.`,
        )
      const entry = auditEntryRow(contextOf(installation, act), {
        type: 'case.signed',
        trailId: found.entity_id,
        subject: { type: 'case_signature', id: signature.id },
        data: {
          entity_id: found.entity_id,
          case_id: found.id,
          signature_id: signature.id,
          signed_first_by: signature.signer_id,
        },
      })
      const reviewed = { ...read, found, pairs, isTotalConfirmed, entries: [entry] }
      const done = await recordReviews(installation, { ...act, reason }, reviewed)
      if (done) return done
    }
    throw caseBusy()
  },
)

/** Ends a first signature: the case goes back to its signer, with the reason as a note. The signer takes it back in the same way. */
export const sendCaseBack = permitted(
  'review decisions',
  async (installation, act: Reasoned<EnvironmentAct<OperatorActor>>, seen: SeenSignature): Promise<{ id: string }> => {
    const { organizationId, reason } = act
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { found, signature } = await signatureDue(installation, act, seen)
      const { id: case_id, entity_id } = found
      const context = contextOf(installation, act)
      const note = {
        id: installation.newId('nte'),
        case_id,
        entity_id,
        text: reason,
        author_id: act.by.operator.id,
        created_at: context.now,
      }
      const { lost } = await installation.stores[act.environment].commit({
        organizationId,
        changedCases: [
          {
            ...asSeen(found),
            assignee_id: signature.signer_id,
            assigned_at: context.now,
            signature_id: null,
            signer_id: null,
          },
        ],
        rows: { case_notes: [note] },
        auditEntries: [
          auditEntryRow(context, {
            type: 'case.noted',
            trailId: entity_id,
            subject: { type: 'case_note', id: note.id },
            data: { entity_id, case_id, record_sha256: recordSha256<'case_notes'>(organizationId, note) },
          }),
          auditEntryRow(context, {
            type: 'case.sent_back',
            trailId: entity_id,
            subject: { type: 'case_signature', id: signature.id },
            data: { entity_id, case_id, signature_id: signature.id, note_id: note.id },
          }),
        ],
      })
      if (!lost) return { id: case_id }
    }
    throw caseBusy()
  },
)

/** The open case and its first signature; throws if another one is due now, or none. */
async function signatureDue(
  installation: Installation,
  act: EnvironmentAct,
  { id, signatureId }: SeenSignature,
): Promise<{ found: RowOf<'cases'>; signature: RowOf<'case_signatures'> }> {
  const found = await openCase(installation, act, id)
  if (found.signature_id !== signatureId) throw signatureEnded()
  const signature = await installation.stores[act.environment].approvals.signature(act.organizationId, signatureId)
  if (signature?.case_id !== id)
    throw conflict('signature_unconfirmed', 'The log does not confirm the first signature of this case.')
  return { found, signature }
}

/** Two different people sign, and the first one still may. */
async function requireSecondPerson(
  { storage }: Installation,
  { organizationId, by: { operator } }: EnvironmentAct<OperatorActor>,
  { signer_id }: RowOf<'case_signatures'>,
): Promise<void> {
  const first = await findOperatorById(storage.control, organizationId, signer_id)
  if (!first || !isStanding(first, 'review decisions'))
    throw conflict('signer_gone', 'The person who signed first may not review any more.')
  if (isSamePerson(first, operator))
    throw forbidden('second_person_needed', 'You signed this case first, so a second person has to sign it.')
}

function signatureEnded(): Problem {
  return conflict('signature_ended', 'This case does not wait for this second signature any more.')
}
