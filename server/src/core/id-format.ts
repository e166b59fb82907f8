/** The prefixes of ids, one for each type of object. */
export type IdPrefix =
  | 'acc'
  | 'aud'
  | 'bkt'
  | 'cas'
  | 'cmt'
  | 'con'
  | 'dec'
  | 'ent'
  | 'evt'
  | 'fsn'
  | 'idl'
  | 'inv'
  | 'key'
  | 'mrg'
  | 'nte'
  | 'opr'
  | 'org'
  | 'out'
  | 'pky'
  | 'pol'
  | 'req'
  | 'ret'
  | 'rev'
  | 'scn'
  | 'ses'
  | 'sig'
  | 'stp'
  | 'txb'
  | 'whe'

/** Crockford's base32 in lower case: without i, l, o and u, which are easily misread. */
export const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Organizations are few, but every row and every index names one: their ids have 50 random bits instead of a UUID. */
export const ORGANIZATION_ID_CHARACTERS = 10

/** The pattern of ids with a prefix. The first character of a UUID carries the three highest of 128 bits. */
export function idPattern(prefix: IdPrefix): string {
  if (prefix === 'org') return `^org_[${ID_ALPHABET}]{${ORGANIZATION_ID_CHARACTERS}}$`
  return `^${prefix}_[0-7][${ID_ALPHABET}]{25}$`
}
