import { type PGlite, protocol } from '@electric-sql/pglite'
import { LRUCache } from 'lru-cache'
import type { Row } from './database.ts'

const { serialize, messages } = protocol

/** Bounds the memory of prepared statements whose text varies. */
const PREPARED_MAX = 500

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

  constructor(database: PGlite) {
    this.#database = database
  }

  /** Runs a statement; `schema` is the session's current search path, which a prepared statement is bound to. */
  async run(schema: string, sql: string, params: readonly unknown[]): Promise<Row[]> {
    const { name, parameterTypes, columns } = await this.#prepare(`${schema} ${sql}`, sql)
    const values = params.map((value, index) => this.#encode(value, parameterTypes[index]!))
    const answers = await this.#exchange(serialize.bind({ statement: name, values }), serialize.execute({}))
    const rows: Row[] = []
    for (const answer of answers)
      if (answer instanceof messages.DataRowMessage) rows.push(rowOf(columns, answer.fields))
    return rows
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
    return (await this.#database.execProtocol(Buffer.concat([...parts, serialize.sync()]))).messages
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
