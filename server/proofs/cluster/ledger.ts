/** Clients of several nodes, and the ledger of what they were answered, which they keep outside of the database. */
import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AuditEntry, leafHashOf } from '../../src/core/audit/audit-entry.ts'
import { type Checkpoint, verifyCheckpoint } from '../../src/core/audit/checkpoint.ts'
import { verifyInclusion } from '../../src/core/audit/merkle-proofs.ts'

/** An answer that a client has got, as a line of the ledger. */
interface Acknowledged {
  key: string
  path: string
  status: number
  text: string
}

const PAUSE_MS = 120
const RETRY_AFTER_MS = 100
/** How many acknowledged requests are sent again to another node. */
const REPEATED = 0.3
/** What a client may be told: done, done before, or nothing yet. */
const HONEST = new Set([200, 201, 503])

/** An append-only file of answers, each on the disk before its client goes on. */
export class Ledger {
  readonly #file: string
  readonly #descriptor: number

  constructor(file: string) {
    this.#file = file
    this.#descriptor = openSync(file, 'a')
  }

  note(answer: Acknowledged): void {
    writeSync(this.#descriptor, `${JSON.stringify(answer)}\n`)
    fsyncSync(this.#descriptor)
  }

  read(): Acknowledged[] {
    const lines = readFileSync(this.#file, 'utf8').split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as Acknowledged)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** A node of the service, as its clients reach it. */
export interface Node {
  name: string
  origin: string
}

/** What clients have seen so far. */
export interface Seen {
  /** When each node last answered a write, in order. */
  written: Map<Node, number[]>
  refused: number
  repeated: number
  /** Answers that no client may get. */
  wrong: string[]
}

/** Clients that write until they are stopped. */
export interface Clients {
  seen: Seen
  stop(): Promise<void>
}

interface Writing {
  nodes: readonly Node[]
  apiKey: string
  ledger: Ledger
  /** Makes their keys unique between rounds. */
  round: string
  count: number
  random: () => number
}

/**
 * Starts clients that create entities and decide about each once. A client repeats a request, under its key and on any node, until it
 * is answered; some requests that were answered are repeated on another node, and have to be answered alike.
 */
export function startClients({ nodes, apiKey, ledger, round, count, random }: Writing): Clients {
  const seen: Seen = { written: new Map(nodes.map((node) => [node, []])), refused: 0, repeated: 0, wrong: [] }
  let isOver = false

  async function send(node: Node, path: string, key: string, body: object): Promise<Acknowledged | undefined> {
    const response = await fetch(node.origin + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!HONEST.has(response.status)) seen.wrong.push(`${node.name} ${path} ${key}: ${response.status} ${text}`)
    if (response.status === 503) seen.refused += 1
    if (!response.ok) return undefined
    seen.written.get(node)!.push(performance.now())
    return { key, path, status: response.status, text }
  }

  function sendOnce(...request: Parameters<typeof send>): Promise<Acknowledged | undefined> {
    const [node, path, key] = request
    return send(...request).catch((error: unknown) => {
      seen.wrong.push(`${node.name} ${path} ${key}: no answer (${error})`)
      return undefined
    })
  }

  /** Undefined once a client was answered wrongly: the others then give up, too. */
  async function sendUntilAnswered(path: string, key: string, body: object): Promise<Acknowledged | undefined> {
    while (seen.wrong.length === 0) {
      const node = nodes[Math.floor(random() * nodes.length)]!
      const answer = await sendOnce(node, path, key, body)
      if (answer) {
        ledger.note(answer)
        if (random() < REPEATED) await repeat(nodes.find((other) => other !== node)!, answer, body)
        return answer
      }
      await sleep(RETRY_AFTER_MS)
    }
    return undefined
  }

  /** A node may refuse to answer, and may not answer otherwise than the first one. */
  async function repeat(node: Node, first: Acknowledged, body: object): Promise<void> {
    const again = await sendOnce(node, first.path, first.key, body)
    if (!again) return
    seen.repeated += 1
    if (again.text !== first.text || again.status !== first.status)
      seen.wrong.push(`${first.key} was answered ${first.text}, then ${again.text}`)
  }

  const clients = Array.from({ length: count }, async (_, client) => {
    for (let number = 0; !isOver; number++) {
      const name = `${round}-${client}-${number}`
      const entity = await sendUntilAnswered('/v1/entities', `e-${name}`, { external_id: name })
      if (!entity) return
      const request = { entity_id: (JSON.parse(entity.text) as { id: string }).id, product: 'marketplace_access' }
      await sendUntilAnswered('/v1/underwrite', `d-${name}`, request)
      await sleep(PAUSE_MS)
    }
  })
  return {
    seen,
    async stop() {
      isOver = true
      await Promise.all(clients)
    },
  }
}

/** A decision as its clients can prove it. */
interface Replay {
  matches: boolean
  decision: { id: string }
  audit: {
    entry: AuditEntry & { leaf_hash: string }
    log: { environment: 'sandbox' | 'production'; organization_id: string }
    leaf_index: number | null
    inclusion_proof: string[]
    checkpoint: Checkpoint
  }
}

/** Asks a node for each acknowledged record again, and checks that it is what was answered. Returns the heads that it got. */
export async function checkAcknowledged(
  answers: readonly Acknowledged[],
  { node, apiKey, publicKey }: { node: Node; apiKey: string; publicKey: KeyObject },
): Promise<Checkpoint[]> {
  const headers = { Authorization: `Bearer ${apiKey}` }
  const heads: Checkpoint[] = []
  const get = async (path: string): Promise<string> => {
    for (;;) {
      const response = await fetch(node.origin + path, { headers })
      const text = await response.text()
      if (response.status === 200) return text
      assert.equal(response.status, 503, `${path}: ${text}`)
      await sleep(RETRY_AFTER_MS)
    }
  }
  const check = async ({ path, text }: Acknowledged) => {
    const { id } = JSON.parse(text) as { id: string }
    if (path === '/v1/entities') {
      const [sent, stored] = [text, await get(`/v1/entities/${id}`)].map((body) => JSON.parse(body))
      assert.deepEqual([stored.id, stored.external_id, stored.created_at], [sent.id, sent.external_id, sent.created_at])
      return
    }
    assert.equal(await get(`/v1/decisions/${id}`), text)
    const { matches, decision, audit } = await sealedReplay(() => get(`/v1/decisions/${id}/replay`))
    const { entry, leaf_index, log, checkpoint, inclusion_proof } = audit
    assert.ok(matches, id)
    assert.deepEqual(decision, JSON.parse(text))
    const { leaf_hash, id: entryId, trail_id, type, occurred_at, actor, request_id, subject, data } = entry
    const hashed = { id: entryId, trail_id, type, occurred_at, actor, request_id, subject, data }
    assert.equal(leafHashOf(log.organization_id, hashed), leaf_hash, id)
    const proven = { leafIndex: leaf_index!, treeSize: checkpoint.tree_size, leafHash: leaf_hash }
    assert.ok(verifyInclusion({ ...proven, proof: inclusion_proof, root: checkpoint.root_hash }), id)
    const signedLog = { environment: log.environment, organizationId: log.organization_id }
    assert.ok(verifyCheckpoint(signedLog, checkpoint, publicKey), id)
    heads.push(checkpoint)
  }
  const waiting = answers.values()
  const checkWaiting = async () => {
    for (const answer of waiting) await check(answer)
  }
  await Promise.all(Array.from({ length: 8 }, checkWaiting))
  return heads
}

async function sealedReplay(get: () => Promise<string>): Promise<Replay> {
  for (;;) {
    const replay = JSON.parse(await get()) as Replay
    if (replay.audit.leaf_index !== null) return replay
    await sleep(200)
  }
}
