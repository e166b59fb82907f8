/** Reads the table of docs/operating.md, "What is kept for how long?". */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Storage } from '../src/store/storage.ts'

/** What the page says about a table. */
export interface DocumentedTable {
  personal: string
  kept: string
  deletedBy: string
}

/** The tables that the page lists, by name. */
export function documentedTables(): Map<string, DocumentedTable> {
  const page = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8')
  const section = page.slice(page.indexOf('## What is kept for how long?'), page.indexOf('| file | bound |'))
  const lines = section.split('\n').filter((line) => line.startsWith('| `'))
  return new Map(
    lines.flatMap((line) => {
      const [, names, , personal, kept, deletedBy] = line.split('|').map((cell) => cell.trim())
      const documented = { personal: personal!, kept: kept!, deletedBy: deletedBy! }
      return [...names!.matchAll(/`(\w+)`/g)].map((match) => [match[1]!, documented] as const)
    }),
  )
}

/** The tables of all three schemas, each once. */
export async function existingTables({ control, environments }: Storage): Promise<Set<string>> {
  const names = new Set<string>()
  for (const database of [control, environments.sandbox, environments.production]) {
    const rows = await database.query<{ name: string }>(
      'SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = $1',
      [database.schema],
    )
    for (const { name } of rows) names.add(name)
  }
  return names
}
