import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, 'dictionaries')

/** The file of a dictionary: documents of made-up applicants. `tests/record-dictionary.ts` writes it. */
export function dictionaryFile(number: number): string {
  return join(FOLDER, `${number}.txt`)
}

/** The dictionary that new segments are compressed with. */
export const NEWEST_DICTIONARY = 1

const DICTIONARIES = new Map<number, Buffer>()

/**
 * The content of a dictionary. Documents of different decisions are nearly alike, so that with an example of them a single one takes
 * a seventh of the room, and one of many half of it.
 */
export function dictionaryOf(number: number): Buffer {
  const known = DICTIONARIES.get(number)
  if (known) return known
  const content = readFileSync(dictionaryFile(number))
  DICTIONARIES.set(number, content)
  return content
}
