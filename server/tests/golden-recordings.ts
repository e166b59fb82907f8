/** Recordings of decisions, which are only ever added, and the facts that ingest adds up to today. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { canonicalJson, sha256 } from '../src/core/canonical-json.ts'
import { decide } from '../src/core/decide/decide.ts'
import { describeDecision, type UnderwritingDecision } from '../src/core/decide/describe-decision.ts'
import type { DecisionTrace } from '../src/core/decide/evaluation.ts'
import { deriveFacts } from '../src/core/facts/derive-facts.ts'
import type { Facts } from '../src/core/facts/facts.ts'
import type { CompiledPolicy } from '../src/core/policy/compiled-policy.ts'
import { GOLDEN_NOW, type GoldenCase, goldenCases } from './golden-states.ts'

/** A decision as it was made, with everything it was made from. */
export interface GoldenDecision {
  policy_checksum: string
  facts: Facts
  decision: UnderwritingDecision
  trace: DecisionTrace
}

/** Decisions that were recorded together, and the policies they were made under by their checksum. */
export interface Recording {
  name: string
  decisions: GoldenDecision[]
  /** Of the decisions, as it is part of the name. */
  sha256: string
  policies: Map<string, string>
}

/** Where the recordings are, a folder each. */
export const RECORDINGS = new URL('golden/decisions/', import.meta.url)
/** The facts of the golden cases, a line each. */
export const FACTS = new URL('golden/facts.jsonl', import.meta.url)

const DIGITS_IN_NAME = 12

/** Reads all recordings there are. */
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
 * Adds a recording, named after its day and its content: another content is another recording, and one that is there is
 * never written again. Compressed, because nobody edits it, and there will be many.
 */
export function addRecording(
  { day, decisions, policies }: { day: string; decisions: readonly GoldenDecision[]; policies: CompiledPolicy[] },
  folder: URL = RECORDINGS,
): string {
  const text = decisions.map((decision) => `${canonicalJson(decision)}\n`).join('')
  const name = `${day}-${sha256(text).slice(0, DIGITS_IN_NAME)}`
  const place = new URL(`${name}/`, folder)
  mkdirSync(place) // fails where there is one
  mkdirSync(new URL('policies/', place))
  for (const { checksum, document } of policies)
    writeFileSync(new URL(`policies/${checksum}.json`, place), `${canonicalJson(document)}\n`, { flag: 'wx' })
  writeFileSync(new URL('decisions.jsonl.gz', place), gzipSync(text, { level: 9 }), { flag: 'wx' })
  return name
}

/** Whether a recording is still what its name says. */
export function isUntouched({ name, sha256: digest }: Recording): boolean {
  return name.endsWith(`-${digest.slice(0, DIGITS_IN_NAME)}`)
}

/** Decides the golden cases, each group of them under its policy. */
export function decideGoldenCases(policies: readonly CompiledPolicy[]): GoldenDecision[] {
  return goldenCases().flatMap((cases, which) => cases.map((one, index) => decideCase(policies[which]!, one, index)))
}

function decideCase(policy: CompiledPolicy, one: GoldenCase, index: number): GoldenDecision {
  const facts = factsOfCase(one)
  const evaluation = decide(policy, facts)
  const number = String(index).padStart(3, '0')
  const named = { id: `dec_golden_${number}`, environment: 'sandbox' as const, requestId: `req_golden_${number}` }
  const decision = describeDecision({ ...named, evaluation, policy, decidedAt: GOLDEN_NOW })
  return { policy_checksum: policy.checksum, facts, decision, trace: evaluation.trace }
}

/** The facts that ingest adds up to for each golden case, in canonical JSON. */
export function goldenFacts(): string[] {
  return goldenCases()
    .flat()
    .map((one) => canonicalJson(factsOfCase(one)))
}

function factsOfCase({ state, entity, request }: GoldenCase): Facts {
  return deriveFacts({ state, entity, request, now: GOLDEN_NOW })
}
