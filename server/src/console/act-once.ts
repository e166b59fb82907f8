import { conflict } from '../admin/problem.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import { fingerprintOf } from '../http/idempotency.ts'
import { KeyedMutex } from '../http/keyed-mutex.ts'
import type { Installation } from '../installation/installation.ts'
import { SecretBox } from '../security/secret-box.ts'
import { type ActKey, findActKey, insertActKey, updateActKey } from '../store/control/act-keys.ts'
import { operatorsOfAccount } from '../store/control/operators.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { type KeptAnswer, keyHashOf } from '../store/environment/idempotency-keys.ts'
import { Lease } from '../store/leases/lease.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { OperationAnswer, OperationPath, Refused } from './operation-call.ts'
import { refusedFor } from './refused-for.ts'

/** A call of an operation under an idempotency key; two with the same key, path and input are one act and its retry. */
export interface KeyedCall {
  key: string
  accountId: string
  path: OperationPath
  input: unknown
}

/** Calls the operation on the installation that it is given. */
type Handle = (installation: Installation) => Promise<OperationAnswer>

/** Where a key is written: with a change of an organization, or with an act on the control database. */
type KeyPlace = { environment: Environment; organizationId: string } | 'control'

/** A call that is under way: its key, and where that is written. */
interface KeyedAct {
  actKey: ActKey
  /** The organizations whose rows can hold the key. */
  organizationIds: readonly string[]
  row: NewRow<'idempotency_keys'> & KeptAnswer
  writtenTo?: KeyPlace
}

/** Short enough for a retry after a crash; renewed while the act runs, so that a second call waits for the first. */
const LEASE_SECONDS = 15
const WAIT_MS = 20_000

/** The status of a key whose answer has not been added. */
const UNANSWERED = 0

/** The commit found the key written: another node carried the call out, after the lease of this one ended. */
class CarriedOutElsewhere extends Error {
  override name = 'CarriedOutElsewhere'
}

/**
 * Carries out calls of the console once for each idempotency key of an account:
 *
 * 1. Lock the key on this node, then hold its lease, so that calls with it run one after another, on all nodes.
 * 2. Repeat the kept answer if there is one; refuse another input.
 * 3. Call the operation. The first change that it commits, or the first act that it carries out on the control database,
 *    carries the key, so that both are durable together, also if the node dies before the answer is known. A mere step
 *    (`isStep`) does not: a retry after it has the rest of the act to do.
 * 4. Add the answer to the key, encrypted, because it may hold a secret that is shown once. If the operation changed
 *    nothing that is recorded, the key is written now.
 *
 * A key without an answer means that the node or its database failed between 3 and 4. The act is then not repeated: the
 * caller is told that it was recorded. A refusal that changed nothing is not kept.
 */
export class ActOnce {
  readonly #installation: Installation
  readonly #box: SecretBox
  readonly #mutex = new KeyedMutex()

  constructor(installation: Installation) {
    this.#installation = installation
    this.#box = new SecretBox(installation.masterKey.deriveAll('console answers'))
  }

  async respond(call: KeyedCall, handle: Handle): Promise<OperationAnswer> {
    const name = `act ${call.accountId} ${call.key}`
    const answer = await this.#mutex.lockWithin(name, WAIT_MS, () => this.#respondLeased(name, call, handle))
    return answer ?? stillRunning()
  }

  async #respondLeased(name: string, call: KeyedCall, handle: Handle): Promise<OperationAnswer> {
    const { storage, newId } = this.#installation
    const terms = { name, holder: newId('req'), seconds: LEASE_SECONDS }
    const lease = new Lease(storage.environments.production, terms)
    if (!(await lease.acquireWithin(WAIT_MS))) return stillRunning()
    lease.keepRenewed()
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
      method: 'POST',
      path: `${place}/${path.name}`,
      body: input,
    })
    const created_at = new Date(nowMs()).toISOString()
    const key_hash = keyHashOf(routeOf(accountId), key)
    return {
      actKey: { accountId, key },
      organizationIds: isInPlace
        ? [path.organization]
        : (await operatorsOfAccount(storage.control, accountId)).map(({ org_id }) => org_id),
      row: { key_hash, fingerprint, decision_id: null, status: UNANSWERED, body: '', created_at },
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
      if (error instanceof CarriedOutElsewhere) return (await this.#keptAnswer(act)) ?? stillRunning()
      throw error
    }
  }

  /** A copy of the installation whose first change or act carries the key, until the operation has answered. */
  #withKey(act: KeyedAct): { installation: Installation; end: () => void } {
    const { storage } = this.#installation
    let isOpen = true
    const isDue = () => isOpen && act.writtenTo === undefined
    const control = storage.control.actingWith(async (transaction) => {
      if (!isDue()) return
      if (!(await insertActKey(transaction, act.actKey, act.row))) throw new CarriedOutElsewhere()
      // The last statement before the end of the transaction: if that fails, so does the call.
      act.writtenTo = 'control'
    })
    const wrap = (environment: Environment): EnvironmentStore => {
      const store = this.#installation.stores[environment]
      const written = (organizationId: string) => {
        act.writtenTo = { environment, organizationId }
      }
      return {
        ...store,
        async commit(change) {
          if (!isDue() || change.isStep) return store.commit(change)
          const committed = await store.commit({ ...change, idempotencyKey: act.row })
          if (committed.lost === 'idempotency_key') throw new CarriedOutElsewhere()
          if (!committed.lost) written(change.organizationId)
          return committed
        },
        policies: {
          ...store.policies,
          async switchActive(policySwitch) {
            if (!isDue()) return store.policies.switchActive(policySwitch)
            const isSwitched = await store.policies.switchActive({ ...policySwitch, idempotencyKey: act.row })
            if (isSwitched) written(policySwitch.organizationId)
            return isSwitched
          },
        },
      }
    }
    const stores = { sandbox: wrap('sandbox'), production: wrap('production') }
    return {
      installation: { ...this.#installation, stores, storage: { ...storage, control } },
      end() {
        isOpen = false
      },
    }
  }

  async #keep(act: KeyedAct, { newToken: _session, newDevice: _device, ...answer }: OperationAnswer): Promise<void> {
    const status = 'refused' in answer ? answer.refused.status : 200
    const place = act.writtenTo ?? 'control'
    const kept = { status, body: this.#box.encrypt(ownerOf(place, act), JSON.stringify(answer)) }
    // The act is done: its caller gets the answer also if it cannot be kept, and a retry is told that it was recorded.
    await this.#write(act, kept).catch(() => {})
  }

  async #write({ writtenTo, actKey, row }: KeyedAct, kept: Pick<KeptAnswer, 'status' | 'body'>): Promise<void> {
    const { stores, storage } = this.#installation
    if (writtenTo === undefined) await insertActKey(storage.control, actKey, { ...row, ...kept })
    else if (writtenTo === 'control') await updateActKey(storage.control, actKey, kept)
    else {
      const { environment, organizationId: org_id } = writtenTo
      await stores[environment].idempotencyKeys.keepAnswer({ org_id, key_hash: row.key_hash, ...kept })
    }
  }

  async #keptAnswer(act: KeyedAct): Promise<OperationAnswer | undefined> {
    const { stores, storage } = this.#installation
    const { key_hash: keyHash, fingerprint } = act.row
    const places: KeyPlace[] = act.organizationIds.flatMap((organizationId) =>
      ENVIRONMENTS.map((environment) => ({ environment, organizationId })),
    )
    const reads = [...places, 'control' as const].map(async (place) => {
      const kept =
        place === 'control'
          ? await storage.control.durably(() => findActKey(storage.control, act.actKey))
          : await stores[place.environment].idempotencyKeys.keptAnswer({
              organizationId: place.organizationId,
              keyHash,
            })
      // A key of the console has its own answer, also if the act made a decision.
      return kept && 'body' in kept ? { kept, owner: ownerOf(place, act) } : undefined
    })
    const found = (await Promise.all(reads)).find((one) => one !== undefined)
    if (!found) return undefined
    return Buffer.compare(found.kept.fingerprint, fingerprint) === 0 ? this.#open(found.owner, found.kept) : keyReused()
  }

  #open(owner: string, { status, body, created_at }: KeptAnswer): OperationAnswer {
    if (status === UNANSWERED) return answerLost(created_at)
    try {
      return JSON.parse(this.#box.decrypt(owner, body)) as OperationAnswer
    } catch {
      // Altered, or moved here from another key.
      return answerLost(created_at)
    }
  }
}

/** The route of an account's keys, which no path of the public API equals. */
function routeOf(accountId: string): string {
  return `console ${accountId}`
}

/** Binds an encrypted answer to its key, so that it cannot be moved to another one. */
function ownerOf(place: KeyPlace, { actKey: { accountId, key } }: KeyedAct): string {
  return `${place === 'control' ? place : place.organizationId} ${routeOf(accountId)} ${key}`
}

function keyReused(): Refused {
  return refusedFor(
    conflict('idempotency_key_reused', 'This form was sent before with other content, and that was carried out.'),
  )
}

function stillRunning(): Refused {
  return refusedFor(conflict('still_running', 'This is still being carried out.'))
}

function answerLost(recordedAt: string): Refused {
  const time = new Date(recordedAt).toISOString()
  const message = `This was recorded on ${time.slice(0, 10)} at ${time.slice(11, 16)} UTC, and is not done twice. Its answer was lost: the page shows what is stored now, and a secret that it held cannot be shown again.`
  return refusedFor(conflict('answer_lost', message))
}
