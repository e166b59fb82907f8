/** A service with decisions whose entries are sealed, for proofs that restore its database. */
import assert from 'node:assert/strict'
import { postJson, runCliForJson, type ServiceProcess } from '../tests/service-process.ts'
import { until } from './proof-run.ts'

/** A running service with its settings, its first key, and the decisions that were made on it. */
export interface Running {
  service: ServiceProcess
  env: Record<string, string>
  key: string
  decisions: string[]
}

/** Makes decisions, each about a new entity and with a review, and waits until their entries are sealed. */
export async function decide(running: Running, count: number, name: string): Promise<void> {
  const { service, key, decisions } = running
  const send = async (path: string, body: object, idempotencyKey: string) => {
    const headers = { 'Idempotency-Key': idempotencyKey }
    const answer = await postJson({ port: service.ports.sandbox, path }, { key, body, headers })
    assert.equal(answer.status, 201, answer.text)
    return JSON.parse(answer.text).id as string
  }
  for (let n = 0; n < count; n++) {
    const entity_id = await send('/v1/entities', { external_id: `${name}-${n}` }, `${name}-e-${n}`)
    const decision = await send('/v1/underwrite', { entity_id, product: 'marketplace_access' }, `${name}-d-${n}`)
    await send(
      `/v1/decisions/${decision}/reviews`,
      { verdict: 'decline', reviewer: { id: 'u' }, reason: 'r' },
      `${name}-r-${n}`,
    )
    decisions.push(decision)
  }
  for (const decision of decisions.slice(-count)) await sealedReplay(running, decision)
}

interface Replay {
  matches: boolean
  audit: { leaf_index: number | null }
}

/** Asks for the replay of a decision. */
export function askReplay({ service, key }: Pick<Running, 'service' | 'key'>, decision: string): Promise<Response> {
  const url = `http://127.0.0.1:${service.ports.sandbox}/v1/decisions/${decision}/replay`
  return fetch(url, { headers: { Authorization: `Bearer ${key}` } })
}

/** Replays a decision until its entry is sealed. */
export async function sealedReplay(running: Pick<Running, 'service' | 'key'>, decision: string): Promise<Replay> {
  let replay: Replay | undefined
  await until(async () => {
    const response = await askReplay(running, decision)
    assert.equal(response.status, 200)
    replay = (await response.json()) as Replay
    return replay.audit.leaf_index !== null
  }, `${decision} is sealed`)
  return replay!
}

interface Verified {
  environment: string
  intact: boolean
  leaves: number
  root_hash: string
}

/** The result of `audit verify` for each log. */
export function verifyLogs(env: Record<string, string>): Verified[] {
  return runCliForJson(env, 'audit', 'verify')
}
