/** How the ids of the entries that one statement wrote are stored: those of audit entries have one length and one prefix. */

const PREFIX = 'aud_'
const LENGTH = 26

/** The ids without their prefix, one after the other. An array of texts would take twice the room. */
export function storeIds(ids: readonly string[]): string {
  const other = ids.find((id) => !id.startsWith(PREFIX) || id.length !== PREFIX.length + LENGTH)
  if (other !== undefined) throw new Error(`not the id of an audit entry: ${other}`)
  return ids.map((id) => id.slice(PREFIX.length)).join('')
}

/** The ids in a list. Of one that was altered, the last may be too short, so that no entry has it. */
export function idsIn(list: string): string[] {
  return Array.from({ length: Math.ceil(list.length / LENGTH) }, (_, place) => {
    return PREFIX + list.slice(place * LENGTH, (place + 1) * LENGTH)
  })
}

/** SQL: how many ids a list has. */
export function countOf(list: string): string {
  return `(length(${list}.entry_ids) / ${LENGTH})`
}

/** SQL: the id at a place of a list, from 0 on; no entry has the id beyond its ends. */
export function idAt(list: string, place: string): string {
  return `('${PREFIX}' || substr(${list}.entry_ids, ${boundedPlace(place)} * ${LENGTH} + 1, ${LENGTH}))`
}

/** No statement writes as many entries, by far. */
const PLACE_MAX = 1_000_000

/** SQL: a place, or one beyond the ends of every list: what is computed from a place that was altered must not overflow. */
export function boundedPlace(place: string): string {
  return `greatest(least(${place}, ${PLACE_MAX}), -1)::integer`
}

/** SQL: the ids of a list as rows. */
export function eachIdOf(list: string): string {
  return `(SELECT ${idAt(list, 'place')} AS id FROM generate_series(0, (length(${list}.entry_ids) - 1) / ${LENGTH}) AS place)`
}
