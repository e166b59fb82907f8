import { useState } from 'react'
import { showDone, showError } from '../api/messages.ts'
import { writeCount } from './write-number.ts'

/** The most rows of one export; more would not fit into the memory of a browser tab. */
const ROWS_MAX = 50_000
const ROWS_PER_CALL = 500

/** Reads a whole list page by page and hands its rows to `save`; `progress` says meanwhile how far it is. */
export function useExport<Row>({
  words,
  readPage,
}: {
  words: { one: string; many: string }
  readPage: (position: { limit: number; cursor?: string }) => Promise<{ rows: readonly Row[]; next: string | null }>
}) {
  const [read, setRead] = useState<number>()
  const run = async (save: (rows: readonly Row[]) => void) => {
    setRead(0)
    try {
      const rows: Row[] = []
      let next: string | null = null
      do {
        const page = await readPage({ limit: ROWS_PER_CALL, ...(next !== null && { cursor: next }) })
        rows.push(...page.rows)
        next = page.next
        setRead(rows.length)
      } while (next !== null && rows.length < ROWS_MAX)
      save(rows)
      const count = `${writeCount(rows.length)} ${rows.length === 1 ? words.one : words.many}`
      showDone(next ? `The newest ${count} are saved. Choose dates to save older ones.` : `${count} saved.`)
    } catch (error) {
      showError(error as Error)
    } finally {
      setRead(undefined)
    }
  }
  return { run, progress: read === undefined ? undefined : `${writeCount(read)} ${words.many}` }
}
