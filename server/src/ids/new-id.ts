import { randomFillSync } from 'node:crypto'
import { ID_ALPHABET, type IdPrefix, ORGANIZATION_ID_CHARACTERS } from '../core/id-format.ts'

/**
 * Generates ids that sort by time: a prefix and a UUIDv7 (RFC 9562) in 26 characters of lowercase base32. Ids of organizations
 * are shorter and do not sort.
 */
export type NewId = <P extends IdPrefix>(prefix: P) => `${P}_${string}`

const COUNTER_MAX = 0xfff

/** Creates an id generator. Ids of one millisecond sort in the order in which they were generated. */
export function createNewId(nowMs: () => number): NewId {
  const bytes = new Uint8Array(16)
  const random = new Uint8Array(2048)
  let randomUsed = random.length
  let lastMs = 0
  let counter = 0

  function nextRandom(): number {
    if (randomUsed === random.length) {
      randomFillSync(random)
      randomUsed = 0
    }
    return random[randomUsed++]!
  }

  function tick(): void {
    const now = nowMs()
    if (now > lastMs) {
      lastMs = now
      counter = nextRandom() // below 256 of 4,096, which leaves thousands of ids for this millisecond
    } else if (++counter > COUNTER_MAX) {
      lastMs++
      counter = 0
    }
  }

  const organizationCharacter = () => ID_ALPHABET[nextRandom() & 31]!

  return (prefix) => {
    if (prefix === 'org')
      return `${prefix}_${Array.from({ length: ORGANIZATION_ID_CHARACTERS }, organizationCharacter).join('')}`
    tick()
    const high = Math.floor(lastMs / 0x1_0000)
    bytes[0] = high >>> 24
    bytes[1] = high >>> 16
    bytes[2] = high >>> 8
    bytes[3] = high
    bytes[4] = lastMs >>> 8
    bytes[5] = lastMs
    bytes[6] = 0x70 | (counter >>> 8)
    bytes[7] = counter
    bytes[8] = 0x80 | (nextRandom() & 0x3f)
    for (let index = 9; index < 16; index++) bytes[index] = nextRandom()
    return `${prefix}_${base32(bytes)}`
  }
}

/** The lowest id of a moment: ids that were made before it sort below, all others not. For reads of a period. */
export function lowestIdAt<P extends IdPrefix>(prefix: P, ms: number): `${P}_${string}` {
  const bytes = new Uint8Array(16)
  const high = Math.floor(ms / 0x1_0000)
  for (const [index, shift] of [24, 16, 8, 0].entries()) bytes[index] = high >>> shift
  bytes[4] = ms >>> 8
  bytes[5] = ms
  return `${prefix}_${base32(bytes)}`
}

/** When an id was made, in milliseconds: its first ten characters are two zero bits and the 48 bits of the time. */
export function timeOfId(id: string): number {
  const characters = id.slice(id.indexOf('_') + 1).slice(0, 10)
  return [...characters].reduce((ms, character) => ms * 32 + ID_ALPHABET.indexOf(character), 0)
}

/** 16 bytes as 26 characters: two zero bits in front, then five bits at a time. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let value = 0
  let bits = 2
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ID_ALPHABET[(value >>> bits) & 31]
    }
    value &= 31
  }
  return text
}
