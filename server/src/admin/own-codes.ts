/** How a person who is signed in to the console sets up their own one-time codes for the command line. */

import type { Installation } from '../installation/installation.ts'
import { enrolmentUri, generateCodeSecret, matchingStep } from '../security/one-time-code.ts'
import { SecretBox } from '../security/secret-box.ts'
import { enrolCodes } from '../store/control/operator-codes.ts'
import type { Operator } from '../store/control/operators.ts'
import { operatorEntry } from './entries.ts'
import { newCodes } from './operator-codes.ts'
import { conflict, forbidden } from './problem.ts'

const VALID_MS = 10 * 60_000

/** A secret to enter into an authenticator app, and what the page sends back with the first code. */
export interface ProposedCodes {
  secret: string
  uri: string
  pending: string
}

interface Pending {
  secret: string
  endsAtMs: number
}

/** Makes a secret for the codes of an operator. The page keeps it, encrypted, until `confirmOwnCodes` gets its first code. */
export function proposeOwnCodes(
  installation: Installation,
  { operator, sessionId }: { operator: Operator; sessionId: string },
): ProposedCodes {
  const pending: Pending = { secret: generateCodeSecret(), endsAtMs: installation.nowMs() + VALID_MS }
  return {
    secret: pending.secret,
    uri: enrolmentUri(pending.secret, operator.email),
    pending: boxOf(installation).encrypt(boundTo(operator, sessionId), JSON.stringify(pending)),
  }
}

/** Lets the codes of a proposed secret count at the command line; those of an earlier one are refused from then on. */
export async function confirmOwnCodes(
  installation: Installation,
  { operator, sessionId, pending, code }: { operator: Operator; sessionId: string; pending: string; code: string },
): Promise<void> {
  const proposed = open(installation, { boundTo: boundTo(operator, sessionId), pending })
  const nowMs = installation.nowMs()
  if (!proposed || proposed.endsAtMs <= nowMs)
    throw conflict('proposal_ended', 'This took longer than ten minutes, or your session has changed.')
  const step = matchingStep(proposed.secret, code.replace(/\s/g, ''), { nowMs, afterStep: 0 })
  if (step === undefined) throw forbidden('code_wrong', 'This code is not right.')
  const by = { organizationId: operator.org_id, operatorId: operator.id }
  const entry = operatorEntry(
    installation,
    { ...by, actor: { type: 'operator', id: operator.id } },
    { type: 'operator.code_reset', data: {} },
  )
  const { control } = installation.storage
  const { row } = newCodes(installation, operator, proposed.secret)
  await control.recorded(async (transaction, record) => {
    await enrolCodes(transaction, control.seal('operator_codes', row, entry), step)
    record(entry)
  })
}

function open(installation: Installation, { boundTo: owner, pending }: { boundTo: string; pending: string }) {
  try {
    return JSON.parse(boxOf(installation).decrypt(owner, pending)) as Pending
  } catch {
    return undefined // Altered, or of another operator or session.
  }
}

function boundTo({ org_id, id }: Operator, sessionId: string): string {
  return `${org_id} ${id} ${sessionId}`
}

function boxOf({ masterKey }: Installation): SecretBox {
  return new SecretBox([masterKey.derive('operator code enrolment')])
}
