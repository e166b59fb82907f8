// Verifies, with node:crypto alone, that a decision is on the signed audit log of its organization.
// API=https://… KEY=sk_sandbox_… PUBLIC_KEY=sandbox.pem node verify-decision.js dec_…
import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'

const { API, KEY, PUBLIC_KEY } = process.env
const get = async (path) => (await fetch(API + path, { headers: { Authorization: `Bearer ${KEY}` } })).json()
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
const hex = (text) => Buffer.from(text, 'hex')

// RFC 8785 for the values that the API returns: members sorted by name, no white space.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}

// 1. The decision, its entry, and the place of the entry in the log.
let replay
do replay = await get(`/v1/decisions/${process.argv[2]}/replay`)
while (replay.audit.leaf_index === null) // not sealed yet; this takes at most five seconds
const { entry, log, leaf_index, inclusion_proof, checkpoint } = replay.audit

// 2. The entry holds the hash of the decision.
check(
  'the decision is the recorded one',
  sha256(canonical(replay.decision)).toString('hex') === entry.data.decision_sha256,
)

// 3. The leaf: SHA-256 of a zero byte and the canonical JSON of the entry, with the id of the organization.
const { id, trail_id, type, occurred_at, actor, request_id, subject, data } = entry
const leaf = canonical({
  entry: { id, trail_id, type, occurred_at, actor, request_id, subject, data },
  format: 'verdigraph.audit-entry.v1',
  organization_id: log.organization_id,
})
let hash = sha256(Buffer.of(0), leaf)
check('the entry has the hash of its leaf', hash.toString('hex') === entry.leaf_hash)

// 4. The root: fold in the proof, from the leaf up (RFC 9162 §2.1.3.2).
let index = leaf_index
let last = checkpoint.tree_size - 1
for (const sibling of inclusion_proof) {
  const isRight = index % 2 === 1 || index === last
  hash = isRight ? sha256(Buffer.of(1), hex(sibling), hash) : sha256(Buffer.of(1), hash, hex(sibling))
  while (isRight && index % 2 === 0 && index > 0) [index, last] = [index / 2, Math.floor(last / 2)]
  ;[index, last] = [Math.floor(index / 2), Math.floor(last / 2)]
}
check('the leaf leads to the root', hash.toString('hex') === checkpoint.root_hash)

// 5. The signature over the root.
const { tree_size, root_hash, signed_at, key_id, signature } = checkpoint
const { environment, organization_id } = log
const head = canonical({
  type: 'verdigraph.tree-head.v1',
  environment,
  organization_id,
  tree_size,
  root_hash,
  signed_at,
})
const key = createPublicKey(readFileSync(PUBLIC_KEY, 'utf8'))
check('the head is signed', verify(null, Buffer.from(head), key, hex(signature)))
const spki = key.export({ type: 'spki', format: 'der' })
check('the key is the one that the head names', sha256(spki).toString('hex').startsWith(key_id))

function check(what, isTrue) {
  console.log(`${isTrue ? 'ok ' : 'BAD'} ${what}`)
  if (!isTrue) process.exitCode = 1
}
