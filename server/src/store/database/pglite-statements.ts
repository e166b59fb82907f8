import { type PGlite, protocol } from '@electric-sql/pglite'
import type { Row } from './database.ts'

const { serialize, messages } = protocol

/** As many are kept prepared, those that were used last: a text that is made from data must not fill the memory. */
const KEPT_MAX = 500

/** A statement that PostgreSQL has read and understood. */
interface Prepared {
  name: string
  parameterTypes: readonly number[]
  columns: readonly { name: string; parse: ((text: string) => unknown) | undefined }[]
}

/**
 * The statements of the embedded database, each prepared once. `PGlite.query` has PostgreSQL read the text of a statement every
 * time, and goes to and fro for every step of it; here all of them go together.
 *
 * INVARIANT: one statement at a time, as in any session; whoever asks waits for the answer.
 */
export class PgliteStatements {
  readonly #database: PGlite
  readonly #prepared = new Map<string, Prepared>()
  #lastName = 0

  constructor(database: PGlite) {
    this.#database = database
  }

  /** Runs a statement; `schema` is the one that the session looks at. */
  async run(schema: string, sql: string, params: readonly unknown[]): Promise<Row[]> {
    const { name, parameterTypes, columns } = await this.#prepare(`${schema} ${sql}`, sql)
    const values = params.map((value, place) => this.#encode(value, parameterTypes[place]!))
    const answers = await this.#exchange(serialize.bind({ statement: name, values }), serialize.execute({}))
    const rows: Row[] = []
    for (const answer of answers)
      if (answer instanceof messages.DataRowMessage) rows.push(rowOf(columns, answer.fields))
    return rows
  }

  async #prepare(key: string, sql: string): Promise<Prepared> {
    const prepared = this.#prepared.get(key) ?? (await this.#parse(sql))
    // The one that was used last is at the end.
    this.#prepared.delete(key)
    this.#prepared.set(key, prepared)
    if (this.#prepared.size > KEPT_MAX) await this.#forgetOldest()
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

  async #forgetOldest(): Promise<void> {
    const [key, { name }] = this.#prepared.entries().next().value!
    this.#prepared.delete(key)
    await this.#exchange(serialize.close({ type: 'S', name }))
  }

  /** Sends messages of PostgreSQL's protocol together, and returns the answers to them. */
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
  for (const [place, { name, parse }] of columns.entries()) {
    const text = fields[place]!
    row[name] = text === null || !parse ? text : parse(text)
  }
  return row
}
