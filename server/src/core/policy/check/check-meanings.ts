import { reasonGroups } from '../compile/compile-meanings.ts'
import { type PolicySlots, policySlots } from '../compile/policy-slots.ts'
import { checkExpression } from '../expression/check-expression.ts'
import { type CompiledExpression, compileExpression } from '../expression/compile-expression.ts'
import type { PolicyDocument, PolicyMeaning } from '../policy-document.ts'
import { segmentDocument } from '../segment-document.ts'
import { reasonsOf, type WrittenReason } from './check-labels.ts'
import type { PolicyProblem } from './policy-problem.ts'
import { ReachedValues } from './reached-values.ts'

/** Finds meanings that do not compile or belong to no reason, reasons that are false where they are given, and opposites. */
export function checkMeanings(document: PolicyDocument): PolicyProblem[] {
  const { meanings = [] } = document
  if (meanings.length === 0) return []
  const wrong = meanings.flatMap((meaning, index) => expressionProblems(document, meaning, index))
  if (wrong.length > 0) return wrong
  return [...unusedMeanings(document), ...falseRules(document), ...falseShortfalls(document), ...opposites(document)]
}

function expressionProblems(document: PolicyDocument, meaning: PolicyMeaning, index: number): PolicyProblem[] {
  const { code, means, instead = [] } = meaning
  const slots = policySlots(document)
  const sources = [
    { source: means, path: ['meanings', index, 'means'] },
    ...instead.map(({ when }, place) => ({ source: when, path: ['meanings', index, 'instead', place, 'when'] })),
  ]
  return sources.flatMap(({ source, path }) => {
    const problem = checkExpression(source, { slotOf: slots.meanings, types: slots.types })
    if (problem === undefined) return []
    const message = `meaning of '${code}', column ${problem.offset + 1}: ${problem.message}`
    return [{ path, offset: problem.offset, message }]
  })
}

function unusedMeanings(document: PolicyDocument): PolicyProblem[] {
  const codes = new Set(reasonsOf(document).map(({ code }) => code))
  return (document.meanings ?? []).flatMap(({ code }, index): PolicyProblem[] => {
    const message = `no reason of this policy has the code '${code}'; correct the code, or remove the meaning`
    return codes.has(code) ? [] : [{ path: ['meanings', index, 'code'], message, isWarning: true }]
  })
}

/** What is said in place of a reason under a condition, and what it means itself. */
interface Saying {
  meaning: PolicyMeaning
  means: CompiledExpression
  instead: readonly { when: CompiledExpression; means: CompiledExpression | undefined }[]
  reads: ReadonlySet<number>
}

function sayingOf(document: PolicyDocument, code: string, slots: PolicySlots): Saying | undefined {
  const { meanings = [] } = document
  const meaning = meanings.find((one) => one.code === code)
  if (meaning === undefined) return undefined
  const compiled = (source: string) => compileExpression(source, slots.meanings) as CompiledExpression
  const instead = (meaning.instead ?? []).map((other) => {
    const ofOther = meanings.find((one) => one.code === other.code)
    return { when: compiled(other.when), means: ofOther && compiled(ofOther.means) }
  })
  const means = compiled(meaning.means)
  const all = [means, ...instead.flatMap(({ when, means }) => (means ? [when, means] : [when]))]
  return { meaning, means, instead, reads: new Set(all.flatMap(({ reads }) => reads)) }
}

/** Whether what is said in place of a reason, or else the reason itself, is false; a reason without a meaning never is. */
function isFalse({ means, instead }: Saying, values: Parameters<CompiledExpression['holds']>[0]): boolean {
  const other = instead.find(({ when }) => when.holds(values) === true)
  const said = other === undefined ? means : other.means
  return said !== undefined && said.holds(values) !== true
}

/**
 * Finds rules that hold for values for which the meaning of their reason does not. Only a meaning that reads nothing else than
 * its rule can be decided here: other values may follow from those that the rule reads.
 */
function falseRules(document: PolicyDocument): PolicyProblem[] {
  const slots = policySlots(document)
  const reached = new ReachedValues(document)
  return (['rules', 'after_score'] as const).flatMap((list) =>
    (document[list] ?? []).flatMap(({ id, when, reason }, index) => {
      const saying = reason.impact === 'negative' ? sayingOf(document, reason.code, slots) : undefined
      const compiled = compileExpression(when, slots.all)
      if (saying === undefined || !('holds' in compiled)) return []
      if ([...saying.reads].some((slot) => !compiled.reads.includes(slot))) return []
      const sources = [when, ...sourcesOf(saying)]
      const found = reached.find({ reads: compiled.reads, sources }, (values) => {
        return compiled.holds(values) === true && isFalse(saying, values)
      })
      if (found === undefined) return []
      const message = `rule '${id}' gives '${reason.code}' at ${found}, where its meaning ${saying.meaning.means} does not hold; change the condition, or the meaning and the label`
      return [{ path: [list, index, 'reason'], message }]
    }),
  )
}

function sourcesOf({ meaning: { means, instead = [] } }: Saying): string[] {
  return [means, ...instead.map(({ when }) => when)]
}

/** Finds values that lose points and for which the meaning of the shortfall does not hold. */
function falseShortfalls(document: PolicyDocument): PolicyProblem[] {
  const ofSegments = (document.segments ?? []).flatMap((segment, index) => {
    if (segment.scorecard === undefined) return []
    const found = falseInCard(segmentDocument(document, segment))
    return found.map((problem) => ({ ...problem, path: ['segments', index, ...problem.path] }))
  })
  return [...falseInCard(document), ...ofSegments]
}

function falseInCard(document: PolicyDocument): PolicyProblem[] {
  const slots = policySlots(document)
  const reached = new ReachedValues(document)
  return document.scorecard.characteristics.flatMap((characteristic, index) => {
    const { feature, bins, shortfall, reference } = characteristic
    const slot = slots.before.get(feature)
    const saying = sayingOf(document, shortfall.code, slots)
    if (slot === undefined || saying === undefined || [...saying.reads].some((read) => read !== slot)) return []
    const isShort = (value: unknown) => {
      const bin = bins.find(
        ({ below, equals, in: set }) =>
          (below !== undefined && (value as number) < below) ||
          (equals !== undefined && value === equals) ||
          set?.includes(value as string) ||
          (below === undefined && equals === undefined && set === undefined),
      )
      return value !== undefined && bin !== undefined && bin.points < reference
    }
    const bounds = bins.flatMap(({ below, equals, in: set = [] }) => [below ?? [], equals ?? [], set].flat())
    const sources = sourcesOf(saying)
    const found = reached.find({ reads: [slot], sources, more: bounds }, (values) => {
      return isShort(values[slot]) && isFalse(saying, values)
    })
    if (found === undefined) return []
    const message = `'${shortfall.code}' is given at ${found}, where its meaning ${saying.meaning.means} does not hold; change the bins, or the meaning and the label`
    return [{ path: ['scorecard', 'characteristics', index, 'shortfall'], message }]
  })
}

/** What is measured from the requested amount against a feature says something about that feature. */
const MEASURED_AGAINST: Readonly<Record<string, string>> = {
  'request.instalment_to_income': 'cashflow.monthly_income',
  'request.lowest_balance_to_instalment': 'cashflow.lowest_balance',
  'request.reserve_to_instalment': 'cashflow.reserve',
}
/** What is about the request and not about the applicant. */
const OF_REQUEST = /^(request|product|tier|score|limit|currency|segment)\./

/** Warns of a negative and a positive reason that speak about one feature and share no group. */
function opposites(document: PolicyDocument): PolicyProblem[] {
  const segments = (document.segments ?? []).map((segment) => segmentDocument(document, segment))
  const groups = [document, ...segments].map(reasonGroups)
  const subjects = subjectsByCode(document)
  const reasons = new Map(reasonsOf(document).map((reason) => [reason.code, reason]))
  const withImpact = (impact: WrittenReason['impact']) => [...reasons.values()].filter((one) => one.impact === impact)
  return withImpact('negative').flatMap((negative) =>
    withImpact('positive').flatMap((positive): PolicyProblem[] => {
      const shared = subjects.get(negative.code)?.find((name) => subjects.get(positive.code)?.includes(name))
      if (shared === undefined || groups.some((known) => haveGroup(known, negative.code, positive.code))) return []
      const message = `'${negative.code}' and '${positive.code}' both speak about ${shared}, and one decision may give both; let their meanings name a group that they share`
      return [{ path: negative.path, message, isWarning: true }]
    }),
  )
}

function haveGroup(groups: ReturnType<typeof reasonGroups>, one: string, other: string): boolean {
  return groups.get(one)?.some((group) => groups.get(other)?.includes(group)) === true
}

/** The features that the meaning of each reason is about, by code. */
function subjectsByCode(document: PolicyDocument): ReadonlyMap<string, readonly string[]> {
  const slots = policySlots(document)
  return new Map(
    (document.meanings ?? []).map(({ code, means }) => {
      const compiled = compileExpression(means, slots.meanings)
      const reads = 'reads' in compiled ? compiled.reads : []
      const names = reads.map((slot) => MEASURED_AGAINST[slots.names[slot]!] ?? slots.names[slot]!)
      return [code, names.filter((name) => name !== '' && !OF_REQUEST.test(name))] as const
    }),
  )
}
