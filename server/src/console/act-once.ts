import { setTimeout as sleep } from 'node:timers/promises'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import { fingerprintOf } from '../http/idempotency.ts'
import { SecretBox } from '../security/secret-box.ts'
import type { Installation } from '../service/installation.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import type { KeptAnswer } from '../store/queries/idempotency-keys.ts'
import { operatorsOfAccount } from '../store/queries/operators.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { OperationAnswer, OperationPath } from './operation-call.ts'

/** A call of an operation under an idempotency key; two with the same key, path and input are one act and its retry. */
export interface KeyedCall {
  key: string
  accountId: string
  path: OperationPath
  input: unknown
}

/** Calls the operation on the installation that it is given. */
type Handle = (installation: Installation) => Promise<OperationAnswer>

/** A call that is under way: where its row goes, and whether it is written. */
interface KeyedAct {
  /** The organizations whose rows can hold the key. */
  organizationIds: readonly string[]
  row: NewRow<'idempotency_keys'>
  writtenTo?: { environment: Environment; organizationId: string }
}

/** Longer than any act takes, so that a second call waits for the first; short enough for a retry after a crash. */
const LEASE_SECONDS = 15
const WAIT_MS = 20_000
const POLL_MS = 25

/** The status of a key whose answer has not been added. */
const UNANSWERED = 0

/** The commit found the key written: another node carried the call out, after the lease of this one ended. */
class CarriedOutElsewhere extends Error {
  override name = 'CarriedOutElsewhere'
}

/**
 * Carries out calls of the console once for each idempotency key of an account:
 *
 * 1. Hold the lease of the key, so that calls with it run one after another, on all nodes.
 * 2. Repeat the kept answer if there is one; refuse another input.
 * 3. Call the operation. The first change that it commits carries the key, so that the change and the key are durable
 *    together, also if the node dies before the answer is known.
 * 4. Add the answer to the key, encrypted, because it may hold a secret that is shown once. If the operation committed no
 *    change (it only wrote control data), the key is written now.
 *
 * A key without an answer means that the node or its database failed between 3 and 4. The act is then not repeated: the
 * caller is told that it was recorded. A refusal that changed nothing is not kept.
 */
export class ActOnce {
  readonly #installation: Installation
  readonly #box: SecretBox

  constructor(installation: Installation) {
    this.#installation = installation
    this.#box = new SecretBox(installation.masterKey.deriveAll('console answers'))
  }

  async respond(call: KeyedCall, handle: Handle): Promise<OperationAnswer> {
    const { storage, newId } = this.#installation
    const lease = new Lease(storage.environments.production, {
      name: `act ${call.accountId} ${call.key}`,
      holder: newId('req'),
      seconds: LEASE_SECONDS,
    })
    if (!(await acquire(lease))) return STILL_RUNNING
    try {
      const act = await this.#actOf(call)
      return (await this.#keptAnswer(act)) ?? (await this.#carryOut(act, handle))
    } finally {
      // A lease that cannot be released ends by itself.
      await lease.release().catch(() => {})
    }
  }

  async #actOf({ key, accountId, path, input }: KeyedCall): Promise<KeyedAct> {
    const { storage, masterKey, nowMs } = this.#installation
    const isInPlace = path.access === 'operator'
    const place = isInPlace ? `${path.organization}/${path.environment}` : path.access
    const fingerprint = fingerprintOf(masterKey.deriveLasting('fingerprints console'), {
      ...{ method: 'POST', path: `${place}/${path.name}`, body: input },
    })
    const created_at = new Date(nowMs()).toISOString()
    return {
      organizationIds: isInPlace
        ? [path.organization]
        : (await operatorsOfAccount(storage.control, accountId)).map(({ org_id }) => org_id),
      row: { route: `console ${accountId}`, key, fingerprint, status: UNANSWERED, body: '', created_at },
    }
  }

  async #carryOut(act: KeyedAct, handle: Handle): Promise<OperationAnswer> {
    const scope = this.#withKey(act)
    try {
      const answer = await handle(scope.installation)
      scope.end()
      // A refusal without a change: another node may have been faster with the same call.
      if ('refused' in answer && !act.writtenTo) return (await this.#keptAnswer(act)) ?? answer
      await this.#keep(act, answer)
      return answer
    } catch (error) {
      scope.end()
      if (error instanceof CarriedOutElsewhere) return (await this.#keptAnswer(act)) ?? STILL_RUNNING
      throw error
    }
  }

  /** A copy of the installation whose first change carries the key, until the operation has answered. */
  #withKey(act: KeyedAct): { installation: Installation; end: () => void } {
    let isOpen = true
    const wrap = (environment: Environment): EnvironmentStore => {
      const store = this.#installation.stores[environment]
      const isDue = () => isOpen && act.writtenTo === undefined
      const written = (organizationId: string) => {
        act.writtenTo = { environment, organizationId }
      }
      return {
        ...store,
        async commit(change) {
          if (!isDue()) return store.commit(change)
          const committed = await store.commit({ ...change, idempotencyKey: act.row })
          if (committed.lost === 'idempotency_key') throw new CarriedOutElsewhere()
          if (!committed.lost) written(change.organizationId)
          return committed
        },
        async switchActivePolicy(policySwitch) {
          if (!isDue()) return store.switchActivePolicy(policySwitch)
          const isSwitched = await store.switchActivePolicy({ ...policySwitch, idempotencyKey: act.row })
          if (isSwitched) written(policySwitch.organizationId)
          return isSwitched
        },
      }
    }
    const stores = { sandbox: wrap('sandbox'), production: wrap('production') }
    return {
      installation: { ...this.#installation, stores },
      end() {
        isOpen = false
      },
    }
  }

  async #keep(act: KeyedAct, { newToken: _session, newDevice: _device, ...answer }: OperationAnswer): Promise<void> {
    const organizationId = act.writtenTo?.organizationId ?? act.organizationIds[0]
    // An account without an organization has no log to record on, and no row of an organization to keep a key in.
    if (organizationId === undefined) return
    const { route, key } = act.row
    const status = 'refused' in answer ? answer.refused.status : 200
    const body = this.#box.encrypt(ownerOf(organizationId, act), JSON.stringify(answer))
    if (act.writtenTo)
      await this.#installation.stores[act.writtenTo.environment]
        .keepAnswer({ org_id: organizationId, route, key, status, body })
        // The act is done: its caller gets the answer, and a retry is told that it was recorded.
        .catch(() => {})
    else
      await this.#installation.stores.production
        .commit({ organizationId, idempotencyKey: { ...act.row, status, body } })
        .catch(() => {})
  }

  async #keptAnswer(act: KeyedAct): Promise<OperationAnswer | undefined> {
    const { route, key, fingerprint } = act.row
    for (const organizationId of act.organizationIds) {
      const reads = ENVIRONMENTS.map((name) =>
        this.#installation.stores[name].keptAnswer({ organizationId, route, key }),
      )
      const kept = (await Promise.all(reads)).find((found) => found !== undefined)
      if (!kept) continue
      if (kept.fingerprint !== fingerprint) return KEY_REUSED
      return this.#open(ownerOf(organizationId, act), kept)
    }
    return undefined
  }

  #open(owner: string, { status, body, created_at }: KeptAnswer): OperationAnswer {
    if (status === UNANSWERED) return answerLost(created_at)
    try {
      return JSON.parse(this.#box.decrypt(owner, body)) as OperationAnswer
    } catch {
      // Altered, or encrypted under an earlier master key.
      return answerLost(created_at)
    }
  }
}

async function acquire(lease: Lease): Promise<boolean> {
  for (const deadline = performance.now() + WAIT_MS; performance.now() < deadline; await sleep(POLL_MS))
    if (await lease.isHeld()) return true
  return false
}

/** Binds an encrypted answer to its key, so that it cannot be moved to another one. */
function ownerOf(organizationId: string, { row: { route, key } }: KeyedAct): string {
  return `${organizationId} ${route} ${key}`
}

const KEY_REUSED: OperationAnswer = {
  refused: {
    status: 422,
    code: 'idempotency_key_reused',
    message:
      'This form was sent before with other content, and that was carried out. Look at what the page shows now before you send it again.',
  },
}

const STILL_RUNNING: OperationAnswer = {
  refused: {
    status: 409,
    code: 'still_running',
    message: 'This is still being carried out. Try again in a moment.',
  },
}

function answerLost(recordedAt: string): OperationAnswer {
  const time = new Date(recordedAt).toISOString()
  const message = `This was recorded on ${time.slice(0, 10)} at ${time.slice(11, 16)} UTC, and is not done twice. Its answer was lost: the page shows what is stored now, and a secret that it held cannot be shown again.`
  return { refused: { status: 409, code: 'answer_lost', message } }
}
