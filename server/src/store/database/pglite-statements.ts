import { type PGlite, protocol } from '@electric-sql/pglite'
import { LRUCache } from 'lru-cache'
import type { Row } from './database.ts'
import { KeptPlans, mayKeepPlan } from './kept-plans.ts'

const { serialize, messages } = protocol

/** Bounds the memory of prepared statements whose text varies. */
const PREPARED_MAX = 500

type PlanMode = 'force_generic_plan' | 'force_custom_plan'

/** A statement to run. */
interface Statement {
  sql: string
  params: readonly unknown[]
  /** The length of its longest array. */
  rows?: number | undefined
  keepPlan?: boolean | undefined
}

/** A statement that PostgreSQL has parsed. */
interface Prepared {
  name: string
  parameterTypes: readonly number[]
  columns: readonly { name: string; parse: ((text: string) => unknown) | undefined }[]
}

/**
 * The prepared statements of the embedded database. `PGlite.query` parses a statement on every execution and waits for
 * each protocol message in turn; here a statement is parsed once, and bind, execute and sync go out together.
 *
 * Every execution is planned anew, except that statements with `keepPlan` share a plan (`KeptPlans`). In WebAssembly,
 * planning is most of the time of a statement that looks rows up by key: the one that writes a batch of changes took
 * 4.0 ms of processor time with a plan of its own and 2.1 ms with a kept one, the walk of the graph 3.7 and 0.8 ms.
 *
 * INVARIANT: callers run one statement at a time and await its rows, because all share one session.
 */
export class PgliteStatements {
  readonly #database: PGlite
  readonly #prepared = new LRUCache<string, Prepared>({
    max: PREPARED_MAX,
    dispose: ({ name }, _key, reason) => {
      if (reason === 'evict') this.#evicted.push(name)
    },
  })
  /** Evicted statements that PostgreSQL still holds. */
  readonly #evicted: string[] = []
  #lastName = 0
  readonly #plans: KeptPlans
  /** The session's plan_cache_mode; undefined if it is not known. */
  #planMode: PlanMode | undefined
  /** The generation of the session's plans; undefined if it is not known. */
  #generation: number | undefined

  constructor(database: PGlite, nowMs?: () => number) {
    this.#database = database
    this.#plans = new KeptPlans(nowMs)
    this.#generation = this.#plans.generation
  }

  /** Runs a statement; `schema` is the session's current search path, which a prepared statement is bound to. */
  async run(schema: string, { sql, params, rows: given = 0, keepPlan = false }: Statement): Promise<Row[]> {
    const { name, parameterTypes, columns } = await this.#prepare(`${schema} ${sql}`, sql)
    const values = params.map((value, index) => this.#encode(value, parameterTypes[index]!))
    const answers = await this.#exchange(
      ...this.#planBy(mayKeepPlan({ keepPlan }, given) ? 'force_generic_plan' : 'force_custom_plan'),
      serialize.bind({ statement: name, values }),
      serialize.execute({}),
    )
    this.#plans.countRows(given)
    const rows: Row[] = []
    for (const answer of answers)
      if (answer instanceof messages.DataRowMessage) rows.push(rowOf(columns, answer.fields))
    return rows
  }

  /** Runs a script of several statements without parameters. */
  async script(sql: string): Promise<void> {
    this.#planMode = undefined // a rollback also undoes SET
    await this.#database.exec(sql)
  }

  /** The message that sets how the next statement is planned, if that has to change. */
  #planBy(mode: PlanMode): Uint8Array[] {
    const commands: string[] = []
    if (mode === 'force_generic_plan' && this.#generation !== this.#plans.generation) {
      this.#generation = this.#plans.generation
      commands.push('DISCARD PLANS')
    }
    if (mode !== this.#planMode) commands.push(`SET plan_cache_mode = ${mode}`)
    this.#planMode = mode
    return commands.map((command) => serialize.query(command))
  }

  async #prepare(key: string, sql: string): Promise<Prepared> {
    const cached = this.#prepared.get(key)
    if (cached) return cached
    const prepared = await this.#parse(sql)
    this.#prepared.set(key, prepared)
    for (const name of this.#evicted.splice(0)) await this.#exchange(serialize.close({ type: 'S', name }))
    return prepared
  }

  async #parse(sql: string): Promise<Prepared> {
    const name = `v${++this.#lastName}`
    const answers = await this.#exchange(serialize.parse({ name, text: sql }), serialize.describe({ type: 'S', name }))
    const parameters = answers.find((answer) => answer instanceof messages.ParameterDescriptionMessage)
    const row = answers.find((answer) => answer instanceof messages.RowDescriptionMessage)
    return {
      name,
      parameterTypes: parameters?.dataTypeIDs ?? [],
      columns: (row?.fields ?? []).map((field) => ({
        name: field.name,
        parse: this.#database.parsers[field.dataTypeID],
      })),
    }
  }

  /** Sends messages of PostgreSQL's protocol together and returns its answers. */
  async #exchange(...parts: Uint8Array[]) {
    try {
      return (await this.#database.execProtocol(Buffer.concat([...parts, serialize.sync()]))).messages
    } catch (error) {
      // SET and DISCARD may be among the messages, and have no effect in a transaction that failed.
      this.#planMode = undefined
      this.#generation = undefined
      throw error
    }
  }

  #encode(value: unknown, type: number): string | Uint8Array | null {
    if (value === null || value === undefined) return null
    if (value instanceof Uint8Array) return value
    return String(this.#database.serializers[type]?.(value) ?? value)
  }
}

function rowOf(columns: Prepared['columns'], fields: readonly (string | null)[]): Row {
  const row: Row = {}
  for (const [index, { name, parse }] of columns.entries()) {
    const text = fields[index]!
    row[name] = text === null || !parse ? text : parse(text)
  }
  return row
}
