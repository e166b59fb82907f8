/** Reads the tables of docs/operating.md, "What grows?". */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Storage } from '../src/store/storage.ts'

/** The tables that the page lists, each with what it says about how long rows are kept. */
export function documentedTables(): Map<string, string> {
  const page = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8')
  const section = page.slice(page.indexOf('## What grows?'), page.indexOf('| file | bound |'))
  const lines = section.split('\n').filter((line) => line.startsWith('| `'))
  return new Map(
    lines.flatMap((line) => {
      const [, names, kept] = line.split('|').map((cell) => cell.trim())
      return [...names!.matchAll(/`(\w+)`/g)].map((match) => [match[1]!, kept!] as const)
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
