/** The files of docs/high-availability/, with values in place of their `<PLACEHOLDERS>`: the proofs run what operators copy. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../../../docs/high-availability')

/** The values of placeholders, by their names. */
export type Values = Readonly<Record<string, string>>

/** A file with every placeholder replaced; throws if one has no value. */
export function filledIn(file: string, values: Values): string {
  return readFileSync(join(FOLDER, file), 'utf8').replaceAll(/<([A-Z_]+)>/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`${file} has the placeholder <${name}>, which has no value`)
    return value
  })
}
