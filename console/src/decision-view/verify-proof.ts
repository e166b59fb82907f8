import { writeCount } from '../components/write-number.ts'

/** What the server hands out for the check of a decision; the types of `decisions.prove`. */
export interface ProofParts {
  log: { environment: string; organization_id: string }
  texts: Record<'decision' | 'facts' | 'trace' | 'graph' | 'policy', string | null>
  entry: { data: unknown } | null
  leaf_index: number | null
  inclusion_proof: string[] | null
  checkpoint: {
    tree_size: number
    root_hash: string
    signed_at: string
    key_id: string
    signature: string
  } | null
  public_key: { key_id: string; spki: string }
}

/** One step of the check. */
export interface ProofCheck {
  name: string
  /** Whether it holds; null if it cannot be checked yet. */
  holds: boolean | null
  detail: string
}

type Bytes = Uint8Array<ArrayBuffer>

const HASHED = [
  ['decision', 'decision_sha256'],
  ['facts', 'facts_sha256'],
  ['trace', 'trace_sha256'],
  ['graph', 'graph_sha256'],
  ['policy', 'policy_checksum'],
] as const

/**
 * Checks with the browser's own cryptography that a decision and its evidence are on the signed log: the hash of every stored
 * text, the hash of the leaf, the path to the root (RFC 9162 §2.1.3.2) and the signature of the head. Nothing is asked of the
 * server meanwhile, whose word is not needed.
 */
export async function verifyProof(parts: ProofParts): Promise<ProofCheck[]> {
  const { entry, checkpoint, inclusion_proof, leaf_index } = parts
  const data = (entry?.data ?? {}) as Record<string, unknown>
  const texts = await Promise.all(
    HASHED.map(async ([name, member]) => {
      const text = parts.texts[name]
      return { name, matches: text !== null && (await sha256Hex(utf8(text))) === data[member] }
    }),
  )
  const differing = texts.filter(({ matches }) => !matches).map(({ name }) => name)
  const checks: ProofCheck[] = [
    {
      name: 'Decision, facts, trace, graph and policy have the recorded hashes',
      holds: entry !== null && differing.length === 0,
      detail: differing.length === 0 ? `${texts.length} of ${texts.length} match` : `differs: ${differing.join(', ')}`,
    },
  ]
  if (!entry) return [...checks, { name: 'The log has an entry of the decision', holds: false, detail: 'no entry' }]
  if (!checkpoint || leaf_index === null)
    return [...checks, { name: 'The entry is sealed', holds: null, detail: 'within five seconds' }]
  const leaf = await hashOf(0, utf8(canonicalJson(leafOf(parts))))
  const path = inclusion_proof ?? []
  const root = await rootOf(leaf, { path, index: leaf_index, size: checkpoint.tree_size })
  return [
    ...checks,
    {
      name: `Leaf ${writeCount(leaf_index)} leads to the root in ${path.length} steps`,
      holds: root !== null && hex(root) === checkpoint.root_hash,
      detail: shortHash(checkpoint.root_hash),
    },
    {
      name: `The head of ${writeCount(checkpoint.tree_size)} entries is signed`,
      holds: await isSigned(parts, checkpoint),
      detail: `key ${checkpoint.key_id}`,
    },
  ]
}

function leafOf({ entry, log }: ProofParts): unknown {
  return { entry, format: 'verdigraph.audit-entry.v1', organization_id: log.organization_id }
}

/** Folds the path into the hash of the leaf; null if the path does not fit the place of the leaf. */
async function rootOf(
  leaf: Bytes,
  { path, index, size }: { path: readonly string[]; index: number; size: number },
): Promise<Bytes | null> {
  let [hash, at, last] = [leaf, index, size - 1]
  for (const sibling of path) {
    if (last === 0) return null
    const isRight = at % 2 === 1 || at === last
    hash = isRight ? await hashOf(1, fromHex(sibling), hash) : await hashOf(1, hash, fromHex(sibling))
    while (isRight && at % 2 === 0 && at > 0) [at, last] = [at / 2, Math.floor(last / 2)]
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 ? hash : null
}

async function isSigned(
  { log, public_key }: ProofParts,
  { tree_size, root_hash, signed_at, key_id, signature }: NonNullable<ProofParts['checkpoint']>,
): Promise<boolean> {
  const spki = fromHex(public_key.spki)
  if (!(await sha256Hex(spki)).startsWith(key_id)) return false
  const text = canonicalJson({ type: 'verdigraph.tree-head.v1', ...log, tree_size, root_hash, signed_at })
  const key = await crypto.subtle.importKey('spki', spki, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, fromHex(signature), utf8(text))
}

/** RFC 8785 for the values of an entry: members sorted by name, no white space. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`
}

async function hashOf(prefix: number, ...parts: readonly Bytes[]): Promise<Bytes> {
  const all = new Uint8Array(1 + parts.reduce((length, part) => length + part.length, 0))
  all[0] = prefix
  let end = 1
  for (const part of parts) {
    all.set(part, end)
    end += part.length
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all))
}

async function sha256Hex(bytes: Bytes): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}

function utf8(text: string): Bytes {
  return new TextEncoder().encode(text)
}

function hex(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function fromHex(text: string): Bytes {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

/** A hash by its ends: `c427645d…cc28ce`. */
export function shortHash(hash: string): string {
  return `${hash.slice(0, 8)}…${hash.slice(-6)}`
}
