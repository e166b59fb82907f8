import { SESSION_SECONDS } from '../store/control/sessions.ts'
import type { EntryOnTrail } from '../store/environment/audit-verification.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { dataOf } from '../store/write-path/entry-data.ts'
import { POWER_ENTRIES, type PowerlessTime, powerlessTimes } from './powerless-times.ts'

/** The longest session, and a moment for clocks: an act this long after the last sign-in had none. */
const SESSION_MS_MAX = SESSION_SECONDS * 1_000 + 5 * 60_000

/** The entries by which an actor comes to be. */
const CREATED_BY = {
  api_key: ['api_key.created'],
  operator: ['operator.added', 'operator.invited', 'operator.joined', 'access.restored'],
} as const

/** How long after its end an actor's last requests are recorded: they had begun before, and nodes use a row for a moment. */
const ENDING_MS = 60_000

/** Entries of work that goes on after the operator who began it has left. */
const RECORDED_LATER = ['audit_log.verified', 'policy.backtested']

/** The stores whose logs name the actors of a log. */
interface Logs {
  /** Of the log that is checked; it has the entries of its API keys. */
  own: { auditRecords: Pick<EnvironmentStore['auditRecords'], 'subjectsWithEntry' | 'entriesAbout'> }
  /** Of production, whose log has the entries of people. */
  people: { auditRecords: Pick<EnvironmentStore['auditRecords'], 'subjectsWithEntry' | 'entriesAbout' | 'signIns'> }
}

/**
 * Checks who acted: that an entry created each API key and each operator that acts, also if its row was deleted since; that
 * none acts after a removal or a revocation, or while disabled; and that operators who acted in the console had signed in
 * before. Each actor is reported once for each of these.
 */
export class ActorCheck {
  readonly #organizationId: string
  readonly #logs: Logs
  readonly #report: (problem: string) => void
  readonly #checked = new Set<string>()
  readonly #powerless = new Map<string, readonly PowerlessTime[]>()
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
    for (const entry of entries) this.#checkPower(entry)
    for (const entry of entries) if (isConsoleAct(entry)) await this.#checkSession(entry)
  }

  async #checkCreated(type: keyof typeof CREATED_BY, log: Logs['own'], entries: readonly EntryOnTrail[]) {
    const acted = entries.filter(({ actor_type, actor_id }) => actor_type === type && !this.#checked.has(actor_id))
    const ids = [...new Set(acted.map(({ actor_id }) => actor_id))]
    if (ids.length === 0) return
    const created = await log.auditRecords.subjectsWithEntry(this.#organizationId, ids, CREATED_BY[type])
    const about = await log.auditRecords.entriesAbout(this.#organizationId, ids, POWER_ENTRIES)
    for (const id of ids) {
      this.#checked.add(id)
      this.#powerless.set(id, powerlessTimes(about.get(id) ?? []))
      if (created.has(id)) continue
      const entryId = acted.find(({ actor_id }) => actor_id === id)!.id
      this.#report(`The ${NAMES[type]} ${id} acted (entry ${entryId}), but no entry says how it came to be.`)
    }
  }

  #checkPower({ id, type, actor_type, actor_id, occurred_at }: EntryOnTrail): void {
    if (RECORDED_LATER.includes(type) || !isChecked(actor_type)) return
    const atMs = Date.parse(occurred_at)
    const powerless = this.#powerless.get(actor_id) ?? []
    const time = powerless.find(({ fromMs, untilMs }) => fromMs + ENDING_MS < atMs && atMs < untilMs)
    if (!time) return
    this.#powerless.delete(actor_id)
    const since = new Date(time.fromMs).toISOString()
    this.#report(`The ${NAMES[actor_type]} ${actor_id} acted (entry ${id}), although it was ${time.was} at ${since}.`)
  }

  async #checkSession({ id, actor_id, occurred_at }: EntryOnTrail): Promise<void> {
    let signIns = this.#signIns.get(actor_id)
    if (!signIns) {
      signIns = (await this.#logs.people.auditRecords.signIns(this.#organizationId, actor_id)).map((at) =>
        Date.parse(at),
      )
      this.#signIns.set(actor_id, signIns)
    }
    const at = Date.parse(occurred_at)
    if (signIns.some((began) => began <= at && at - began <= SESSION_MS_MAX) || this.#withoutSession.has(actor_id))
      return
    this.#withoutSession.add(actor_id)
    this.#report(`The operator ${actor_id} acted without a session (entry ${id}): no sign-in within two weeks before.`)
  }
}

const NAMES = { api_key: 'API key', operator: 'operator' }

function isChecked(actorType: string): actorType is keyof typeof NAMES {
  return Object.hasOwn(NAMES, actorType)
}

/** Commands name the user who typed them (`via`); what a person does about themselves begins before their session. */
function isConsoleAct(entry: EntryOnTrail): boolean {
  const { actor_type, actor_id, subject_id } = entry
  return actor_type === 'operator' && subject_id !== actor_id && !('via' in dataOf(entry))
}
