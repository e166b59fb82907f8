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
  | 'txb'
  | 'whe'

/** Crockford's base32 in lower case: without i, l, o and u, which are easily misread. */
export const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** The pattern of ids with a prefix. The first character carries the three highest of 128 bits. */
export function idPattern(prefix: IdPrefix): string {
  return `^${prefix}_[0-7][${ID_ALPHABET}]{25}$`
}
