/** Control characters, invisible format characters and line separators: they could drive an operator's terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A text for one line of a terminal: characters that could control it are escaped. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** A value as JSON, in which every character that could control a terminal is escaped. */
export function printableJson(value: unknown, indent: number): string {
  const lines = JSON.stringify(value, withPublicName, indent).split('\n')
  return lines.map((line) => line.replace(UNPRINTABLE, escapeUnits)).join('\n')
}

/** Gives a row the name that the API and the docs have for the column `org_id`. */
function withPublicName(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('org_id' in value)) return value
  const { org_id, ...others } = value
  return { organization_id: org_id, ...others }
}

function escapeUnits(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
