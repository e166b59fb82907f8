import { zstdDecompressSync } from 'node:zlib'
import { dictionaryOf, NEWEST_DICTIONARY } from './dictionary.ts'
import { KeptCompressor } from './kept-compressor.ts'

/** The documents of a decision, in the order in which a segment has them. */
export const DOCUMENTS = ['body', 'facts', 'trace', 'graph'] as const

/** What a decision answered, and what it was made from; each is JSON as it was hashed for the audit log. */
export type Documents = Record<(typeof DOCUMENTS)[number], string>

/** The documents of one decision. */
export type DocumentsOfDecision = Documents & { decision_id: string }

/** The most decisions of a segment: more would be smaller, but every read of one decision unpacks them all. */
export const SEGMENT_DECISIONS_MAX = 32

/** The most characters of a segment of several decisions. */
export const SEGMENT_CHARACTERS_MAX = 8 * 1024 * 1024

/** A segment never unpacks to more: a character takes at most three bytes, and the documents of one decision fewer. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024

const LINE_FEED = 0x0a

const dictionary = dictionaryOf(NEWEST_DICTIONARY)

/** While a request waits, decisions are compressed at zstd's level 1; later at level 9, which takes more than twice the time. */
const COMPRESSORS = {
  atOnce: new KeptCompressor({ level: 1, dictionary }),
  later: new KeptCompressor({ level: 9, dictionary }),
}

/**
 * Packs the documents of some decisions into one segment: a line of JSON with the id of each decision and the lengths of
 * its documents in bytes, then all documents, compressed as one. Its first byte is the number of the dictionary.
 */
export async function packSegment(
  decisions: readonly DocumentsOfDecision[],
  when: keyof typeof COMPRESSORS = 'atOnce',
): Promise<Buffer> {
  const directory = decisions.map((decision) => [
    decision.decision_id,
    ...DOCUMENTS.map((name) => Buffer.byteLength(decision[name])),
  ])
  const texts = decisions.flatMap((decision) => DOCUMENTS.map((name) => decision[name]))
  const frame = await COMPRESSORS[when].compress(`${JSON.stringify(directory)}\n${texts.join('')}`)
  return Buffer.concat([Uint8Array.of(NEWEST_DICTIONARY), frame])
}

/** Unpacks a segment, or the decisions of it that are wanted. Throws if it was altered so that it cannot be read. */
export function unpackSegment(content: Uint8Array, wanted?: readonly string[]): DocumentsOfDecision[] {
  const dictionary = dictionaryOf(content[0]!)
  const bytes = zstdDecompressSync(content.subarray(1), { maxOutputLength: UNPACKED_BYTES_MAX, dictionary })
  const end = bytes.indexOf(LINE_FEED)
  const directory = JSON.parse(bytes.toString('utf8', 0, end)) as [string, ...number[]][]
  let offset = end + 1
  return directory.flatMap(([decision_id, ...lengths]) => {
    const start = offset
    offset += lengths.reduce((sum, length) => sum + length, 0)
    return wanted && !wanted.includes(decision_id) ? [] : [readDocumentsAt(bytes, start, { decision_id, lengths })]
  })
}

function readDocumentsAt(
  bytes: Buffer,
  start: number,
  { decision_id, lengths }: { decision_id: string; lengths: readonly number[] },
): DocumentsOfDecision {
  let offset = start
  const [body, facts, trace, graph] = lengths.map((length) => {
    const text = bytes.toString('utf8', offset, offset + length)
    offset += length
    return text
  }) as [string, string, string, string]
  return { decision_id, body, facts, trace, graph }
}

/** Splits decisions into as few segments as hold them, of nearly equal size. */
export function splitIntoSegments<T extends { documents: Documents }>(decisions: readonly T[]): T[][] {
  const count = Math.ceil(decisions.length / SEGMENT_DECISIONS_MAX)
  return Array.from({ length: count }, (_, index) =>
    decisions.slice(
      Math.floor((index * decisions.length) / count),
      Math.floor(((index + 1) * decisions.length) / count),
    ),
  ).flatMap(halveLarge)
}

/** Halves decisions whose documents are too long for one segment, until they are not or are those of one decision. */
function halveLarge<T extends { documents: Documents }>(decisions: T[]): T[][] {
  if (decisions.length === 1 || charactersIn(decisions.map(({ documents }) => documents)) <= SEGMENT_CHARACTERS_MAX)
    return [decisions]
  const middle = decisions.length >> 1
  return [decisions.slice(0, middle), decisions.slice(middle)].flatMap(halveLarge)
}

/** How long these documents are together. */
export function charactersIn(documents: readonly Documents[]): number {
  return documents.reduce((sum, each) => sum + DOCUMENTS.reduce((own, name) => own + each[name].length, 0), 0)
}
