import { canonicalJson } from '../canonical-json.ts'
import { isObject, objectIn } from '../stored-json.ts'

/** Stands where a text of a caller or a reviewer was, once its person was erased. */
export const ERASED_TEXT = '[erased]'

/** The documents of a decision that may hold texts of callers: its graph has ids and figures alone. */
export interface DocumentsWithTexts {
  body: string
  facts: string
  trace: string
}

const CALLERS_FEATURE = 'snapshot.'

/**
 * Takes out of the documents of a decision what callers wrote: the reference of the request, unless it is that of another
 * person, and the texts among the features that they measured. A text that the policy itself spells is one of its categories, and tells nothing of one person. Null if
 * a document is no JSON object, because it was altered.
 *
 * The trace loses the texts where the facts do, so that a replay of the facts gives the same trace, unless the policy looks
 * into a text.
 */
export function takeOutTexts<D extends DocumentsWithTexts>(
  documents: D,
  policy: string,
  { keepsReference = false } = {},
): D | null {
  const body = objectIn(documents.body)
  const facts = objectIn(documents.facts)
  const trace = objectIn(documents.trace)
  if (!body || !facts || !trace) return null
  const { reference: _, ...others } = body
  const left = keepsReference ? body : others
  const own = Object.entries(isObject(facts.features) ? facts.features : {}).filter(isCallers)
  const texts = textsIn(own.map(([, fact]) => fact)).filter((text) => !isSpelledBy(policy, text))
  if (left.reference === body.reference && texts.length === 0) return documents
  const features = Object.fromEntries(own.map(([name, fact]) => [name, withoutTexts(fact, texts)]))
  return {
    ...documents,
    body: canonicalJson(left),
    facts: canonicalJson({ ...facts, features: { ...(facts.features as object), ...features } }),
    trace: canonicalJson(traceWithoutTexts(trace, texts)),
  }
}

function isCallers([name]: [string, unknown]): boolean {
  return name.startsWith(CALLERS_FEATURE)
}

/** The texts among some values, the longest first, because one may contain another. */
function textsIn(parts: readonly unknown[]): string[] {
  const values = parts.map((part) => (isObject(part) ? part.value : null))
  const texts = values.filter(
    (value): value is string => typeof value === 'string' && value !== '' && value !== ERASED_TEXT,
  )
  return [...new Set(texts)].sort((one, other) => other.length - one.length)
}

/** Whether a policy, as canonical JSON, has a text in quotes: as a value of its own, or in an expression. */
export function isSpelledBy(policy: string, text: string): boolean {
  const quoted = JSON.stringify(text)
  return [quoted, JSON.stringify(quoted).slice(1, -1), `'${text}'`].some((spelled) => policy.includes(spelled))
}

/** A trace, of which the lines of the scorecard and the computed features may repeat texts of callers. */
function traceWithoutTexts(trace: Record<string, unknown>, texts: readonly string[]): Record<string, unknown> {
  const derived = listIn(trace.derived)
  const computed = new Set(derived.map((line) => isObject(line) && line.feature))
  const isOfCallers = (line: unknown) =>
    isObject(line) && (String(line.feature).startsWith(CALLERS_FEATURE) || computed.has(line.feature as string))
  const cleared = (lines: readonly unknown[]) =>
    lines.map((line) => (isOfCallers(line) ? withoutTexts(line, texts) : line))
  return {
    ...trace,
    ...('derived' in trace && { derived: cleared(derived) }),
    ...('scorecard' in trace && { scorecard: cleared(listIn(trace.scorecard)) }),
  }
}

function withoutTexts(part: unknown, texts: readonly string[]): unknown {
  if (!isObject(part) || typeof part.value !== 'string') return part
  return { ...part, value: texts.reduce((left, text) => left.replaceAll(text, ERASED_TEXT), part.value) }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
