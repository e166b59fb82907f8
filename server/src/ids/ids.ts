import { randomFillSync } from 'node:crypto'

/** The kinds of things that have an id, by the prefix of theirs. */
export type IdPrefix =
  | 'aud'
  | 'con'
  | 'dec'
  | 'ent'
  | 'evt'
  | 'fsn'
  | 'idl'
  | 'key'
  | 'opr'
  | 'org'
  | 'out'
  | 'pol'
  | 'req'
  | 'rev'
  | 'txb'
  | 'whe'

/** Makes ids that sort by time: a prefix and a UUIDv7 (RFC 9562) in 26 characters of lowercase base32. */
export type NewId = <P extends IdPrefix>(prefix: P) => `${P}_${string}`

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford's: no i, l, o, u to misread
const COUNTER_MAX = 0xfff

/** The form of an id with a given prefix, for schemas. The first character carries the three highest of 128 bits. */
export function idPattern(prefix: IdPrefix): string {
  return `^${prefix}_[0-7][${ALPHABET}]{25}$`
}

/** Creates a maker of ids. Ids made within one millisecond still sort in the order they were made. */
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
      counter = nextRandom() // starts low, so a millisecond has room for thousands more
    } else if (++counter > COUNTER_MAX) {
      lastMs++
      counter = 0
    }
  }

  return (prefix) => {
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
      text += ALPHABET[(value >>> bits) & 31]
    }
    value &= 31
  }
  return text
}
