import type { EnvironmentStore } from '../store/environment-store.ts'
import type { EntryOnTrail } from '../store/queries/audit-verification.ts'
import { dataOf } from '../store/queries/stored-entry.ts'

/** The longest session, and a moment for clocks: an act this long after the last sign-in had none. */
const SESSION_MS_MAX = 14 * 86_400_000 + 5 * 60_000

/** The entries by which an actor comes to be. */
const CREATED_BY = {
  api_key: ['api_key.created'],
  operator: ['operator.added', 'operator.invited', 'operator.joined'],
} as const

/** The stores whose logs name the actors of a log. */
interface Logs {
  /** Of the log that is checked; it has the entries of its API keys. */
  own: Pick<EnvironmentStore, 'subjectsWithEntry'>
  /** Of production, whose log has the entries of people. */
  people: Pick<EnvironmentStore, 'subjectsWithEntry' | 'signIns'>
}

/**
 * Checks who acted: that an entry created each API key and each operator that acts, also if its row was deleted since, and
 * that operators who acted in the console had signed in before. Each actor is reported once.
 */
export class ActorCheck {
  readonly #organizationId: string
  readonly #logs: Logs
  readonly #report: (problem: string) => void
  readonly #checked = new Set<string>()
  readonly #signIns = new Map<string, readonly number[]>()
  readonly #withoutSession = new Set<string>()

  constructor(organizationId: string, logs: Logs, report: (problem: string) => void) {
    this.#organizationId = organizationId
    this.#logs = logs
    this.#report = report
  }

  /** Checks the actors of the next entries. */
  async addPage(entries: readonly EntryOnTrail[]): Promise<void> {
    await this.#checkCreated('api_key', this.#logs.own, entries)
    await this.#checkCreated('operator', this.#logs.people, entries)
    for (const entry of entries) if (isConsoleAct(entry)) await this.#checkSession(entry)
  }

  async #checkCreated(type: keyof typeof CREATED_BY, log: Logs['own'], entries: readonly EntryOnTrail[]) {
    const acted = entries.filter(({ actor_type, actor_id }) => actor_type === type && !this.#checked.has(actor_id))
    const ids = [...new Set(acted.map(({ actor_id }) => actor_id))]
    if (ids.length === 0) return
    const created = await log.subjectsWithEntry(this.#organizationId, ids, CREATED_BY[type])
    for (const id of ids) {
      this.#checked.add(id)
      if (created.has(id)) continue
      const name = type === 'api_key' ? 'API key' : 'operator'
      const entryId = acted.find(({ actor_id }) => actor_id === id)!.id
      this.#report(`The ${name} ${id} acted (entry ${entryId}), but no entry says how it came to be.`)
    }
  }

  async #checkSession({ id, actor_id, occurred_at }: EntryOnTrail): Promise<void> {
    let signIns = this.#signIns.get(actor_id)
    if (!signIns) {
      signIns = (await this.#logs.people.signIns(this.#organizationId, actor_id)).map((at) => Date.parse(at))
      this.#signIns.set(actor_id, signIns)
    }
    const at = Date.parse(occurred_at)
    if (signIns.some((began) => began <= at && at - began <= SESSION_MS_MAX) || this.#withoutSession.has(actor_id))
      return
    this.#withoutSession.add(actor_id)
    this.#report(`The operator ${actor_id} acted without a session (entry ${id}): no sign-in within two weeks before.`)
  }
}

/** Commands name the user who typed them (`via`); what a person does about themselves begins before their session. */
function isConsoleAct(entry: EntryOnTrail): boolean {
  const { actor_type, actor_id, subject_id } = entry
  return actor_type === 'operator' && subject_id !== actor_id && !('via' in dataOf(entry))
}
