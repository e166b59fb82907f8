import { zstdDecompressSync } from 'node:zlib'
import { KeptCompressor } from './kept-compressor.ts'

/** The documents of a decision, in the order in which a segment has them. */
export const DOCUMENTS = ['body', 'facts', 'trace', 'graph'] as const

/** What a decision answered, and what it was made from; each is JSON as it was hashed for the audit log. */
export type Documents = Record<(typeof DOCUMENTS)[number], string>

/** The documents of one decision. */
export type DocumentsOfDecision = Documents & { decision_id: string }

/** The most decisions of a segment: more would be smaller, but every read of one decision unpacks them all. */
export const SEGMENT_DECISIONS_MAX = 16

/** A segment never unpacks to more: sixteen times the largest documents that a decision can have. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024

const LINE_FEED = 0x0a

/**
 * While a request waits, sixteen decisions are compressed in 0.16 ms to 376 bytes each (zstd's level 1); later in 0.9 ms to
 * 313 (level 9). Level 12 would take 5 ms for 6 bytes.
 */
const COMPRESSORS = { atOnce: new KeptCompressor(1), later: new KeptCompressor(9) }

/**
 * Packs the documents of some decisions into one segment: a line of JSON with the id of each decision and the lengths of
 * its documents in bytes, then all documents, compressed as one.
 */
export function packSegment(
  decisions: readonly DocumentsOfDecision[],
  when: keyof typeof COMPRESSORS = 'atOnce',
): Promise<Buffer> {
  const directory = decisions.map((decision) => [
    decision.decision_id,
    ...DOCUMENTS.map((name) => Buffer.byteLength(decision[name])),
  ])
  const texts = decisions.flatMap((decision) => DOCUMENTS.map((name) => decision[name]))
  return COMPRESSORS[when].compress(`${JSON.stringify(directory)}\n${texts.join('')}`)
}

/** Unpacks a segment. Throws if it was altered so that it cannot be read. */
export function unpackSegment(content: Uint8Array): DocumentsOfDecision[] {
  const bytes = zstdDecompressSync(content, { maxOutputLength: UNPACKED_BYTES_MAX })
  const end = bytes.indexOf(LINE_FEED)
  const directory = JSON.parse(bytes.toString('utf8', 0, end)) as [string, ...number[]][]
  let offset = end + 1
  return directory.map(([decision_id, ...lengths]) => {
    const [body, facts, trace, graph] = lengths.map((length) => {
      const text = bytes.toString('utf8', offset, offset + length)
      offset += length
      return text
    }) as [string, string, string, string]
    return { decision_id, body, facts, trace, graph }
  })
}

/** Splits decisions into as few segments as hold them, of nearly equal size. */
export function splitIntoSegments<T>(decisions: readonly T[]): T[][] {
  const count = Math.ceil(decisions.length / SEGMENT_DECISIONS_MAX)
  return Array.from({ length: count }, (_, index) =>
    decisions.slice(
      Math.floor((index * decisions.length) / count),
      Math.floor(((index + 1) * decisions.length) / count),
    ),
  )
}
