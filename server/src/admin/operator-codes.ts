import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../installation/installation.ts'
import { enrolmentUri, generateCodeSecret, matchingStep } from '../security/one-time-code.ts'
import { SecretBox } from '../security/secret-box.ts'
import {
  acceptCode,
  beginCodeAttempt,
  codesLockedUntil,
  findCodes,
  type StoredCodes,
} from '../store/control/operator-codes.ts'
import type { Operator } from '../store/control/operators.ts'
import { conflict, forbidden, throttled } from './problem.ts'
import { recordOnProduction } from './record-on-production.ts'

/** Wrong codes in a row that lock an operator, and for how long. After that, each further wrong code locks again. */
const FAILURES_MAX = 5
const LOCK_SECONDS = 900

/** The secret of an operator's one-time codes, to be entered into an authenticator app. It cannot be shown again. */
export interface Enrolment {
  code_secret: string
  code_uri: string
}

/** A new secret for the one-time codes of an operator; once its row is stored, codes of an earlier secret are refused. */
export function newCodes(
  installation: Installation,
  operator: CodeHolder,
  secret = generateCodeSecret(),
): { row: StoredCodes; enrolment: Enrolment } {
  return {
    row: {
      org_id: operator.org_id,
      operator_id: operator.id,
      secret: codeBox(installation).encrypt(boundTo(operator), secret),
      enrolled_at: new Date(installation.nowMs()).toISOString(),
    },
    enrolment: { code_secret: secret, code_uri: enrolmentUri(secret, operator.email) },
  }
}

/** Checks a one-time code of an operator: it must be right, of now, and used for the first time. */
export async function checkCode(
  installation: Installation,
  operator: Operator,
  { code, by }: { code: string; by: AdminActor },
): Promise<void> {
  const { storage, nowMs } = installation
  const owner = ownerOf(operator)
  const now = new Date(nowMs()).toISOString()
  const codes = await findCodes(storage.control, owner)
  if (!codes) throw conflict('no_codes', `${operator.email} has no one-time codes.`)
  const attempt = await beginCodeAttempt(storage.control, owner, {
    secret: codes.secret,
    now,
    failuresMax: FAILURES_MAX,
    lockSeconds: LOCK_SECONDS,
  })
  if (!attempt) {
    const lockedUntil = await codesLockedUntil(storage.control, owner)
    if (lockedUntil)
      throw throttled(
        'codes_locked',
        `Too many codes of ${operator.email} were wrong. Codes are refused until ${lockedUntil}.`,
      )
    throw conflict('codes_replaced', `The one-time codes of ${operator.email} were replaced meanwhile.`)
  }
  const secret = codeBox(installation).decrypt(boundTo(operator), attempt.secret)
  const step = matchingStep(secret, code, { nowMs: nowMs(), afterStep: attempt.last_step })
  if (step !== undefined && (await acceptCode(storage.control, owner, { step, secret: attempt.secret }))) return
  if (attempt.locked_until !== null)
    await recordOnProduction(
      installation,
      { organizationId: operator.org_id, actor: by },
      {
        type: 'operator.code_locked',
        trailId: operator.id,
        subject: { type: 'operator', id: operator.id },
        data: { failures: attempt.failures, locked_until: attempt.locked_until },
      },
    )
  throw forbidden(
    'code_wrong',
    `This is not a valid code of ${operator.email}. Each code works once and for about a minute.`,
  )
}

type CodeHolder = Pick<Operator, 'org_id' | 'id' | 'email'>

function ownerOf({ org_id, id }: CodeHolder): { organizationId: string; operatorId: string } {
  return { organizationId: org_id, operatorId: id }
}

function boundTo({ org_id, id }: CodeHolder): string {
  return `${org_id} ${id}`
}

function codeBox({ masterKey }: Installation): SecretBox {
  return new SecretBox([masterKey.derive('operator codes')])
}
