/** Reads and writes the golden decisions, which are append-only, and computes the facts of the golden cases. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { canonicalJson, sha256 } from '../src/core/canonical-json.ts'
import { decide } from '../src/core/decide/decide.ts'
import { describeDecision, type UnderwritingDecision } from '../src/core/decide/describe-decision.ts'
import type { DecisionTrace } from '../src/core/decide/evaluation.ts'
import { deriveFacts } from '../src/core/facts/derive-facts.ts'
import type { Facts } from '../src/core/facts/facts.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import { GOLDEN_NOW, type GoldenCase, goldenCases } from './golden-states.ts'

/** A decision as it was recorded, with its facts, its policy and its trace. */
export interface GoldenDecision {
  policy_checksum: string
  facts: Facts
  decision: UnderwritingDecision
  trace: DecisionTrace
}

/** Decisions that were recorded together, and their policies by checksum. */
export interface Recording {
  name: string
  decisions: GoldenDecision[]
  /** The SHA-256 of the decisions; its first digits are part of the name. */
  sha256: string
  policies: Map<string, string>
}

/** The folder of the recordings, each in its own folder. */
export const RECORDINGS = new URL('golden/decisions/', import.meta.url)
/** The file with the facts of the golden cases, one case per line. */
export const FACTS = new URL('golden/facts.jsonl', import.meta.url)

const DIGITS_IN_NAME = 12

/** Reads all recordings. */
export function readRecordings(folder: URL = RECORDINGS): Recording[] {
  return readdirSync(folder).map((name) => {
    const text = gunzipSync(readFileSync(new URL(`${name}/decisions.jsonl.gz`, folder))).toString('utf8')
    const files = readdirSync(new URL(`${name}/policies/`, folder))
    return {
      name,
      decisions: text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      sha256: sha256(text),
      policies: new Map(
        files.map((file) => [
          file.replace('.json', ''),
          readFileSync(new URL(`${name}/policies/${file}`, folder), 'utf8').trimEnd(),
        ]),
      ),
    }
  })
}

/**
 * Adds a recording, named after its day and the hash of its decisions, and fails if there is one of that name: a
 * recording is never overwritten. The decisions are compressed, because they are never edited and recordings accumulate.
 */
export function addRecording(
  { day, decisions, policies }: { day: string; decisions: readonly GoldenDecision[]; policies: CompiledPolicy[] },
  folder: URL = RECORDINGS,
): string {
  const text = decisions.map((decision) => `${canonicalJson(decision)}\n`).join('')
  const name = `${day}-${sha256(text).slice(0, DIGITS_IN_NAME)}`
  const recordingFolder = new URL(`${name}/`, folder)
  mkdirSync(recordingFolder) // fails if it exists
  mkdirSync(new URL('policies/', recordingFolder))
  for (const { checksum, document } of policies)
    writeFileSync(new URL(`policies/${checksum}.json`, recordingFolder), `${canonicalJson(document)}\n`, { flag: 'wx' })
  writeFileSync(new URL('decisions.jsonl.gz', recordingFolder), gzipSync(text, { level: 9 }), { flag: 'wx' })
  return name
}

/** Whether the decisions of a recording still have the hash in its name. */
export function isUntouched({ name, sha256: digest }: Recording): boolean {
  return name.endsWith(`-${digest.slice(0, DIGITS_IN_NAME)}`)
}

/** Decides each group of golden cases under the policy at the same index. */
export function decideGoldenCases(policies: readonly CompiledPolicy[]): GoldenDecision[] {
  return goldenCases().flatMap((cases, group) => cases.map((one, index) => decideCase(policies[group]!, one, index)))
}

function decideCase(policy: CompiledPolicy, one: GoldenCase, index: number): GoldenDecision {
  const facts = factsOfCase(one)
  const evaluation = decide(policy, facts)
  const number = String(index).padStart(3, '0')
  const named = { id: `dec_golden_${number}`, environment: 'sandbox' as const, requestId: `req_golden_${number}` }
  const decision = describeDecision({ ...named, evaluation, policy, decidedAt: GOLDEN_NOW })
  return { policy_checksum: policy.checksum, facts, decision, trace: evaluation.trace }
}

/** The facts of each golden case, in canonical JSON. */
export function goldenFacts(): string[] {
  return goldenCases()
    .flat()
    .map((one) => canonicalJson(factsOfCase(one)))
}

function factsOfCase({ state, entity, request }: GoldenCase): Facts {
  return deriveFacts({ state, entity, request, now: GOLDEN_NOW })
}
