import { derivedIn, slotsFromAmount } from '../compile/compile-derived.ts'
import { chanceIn, paymentsIn } from '../compile/payment-features.ts'
import { type PolicySlots, policySlots } from '../compile/policy-slots.ts'
import { checkExpression } from '../expression/check-expression.ts'
import { compileExpression } from '../expression/compile-expression.ts'
import { limitExpression, limitProblem } from '../expression/limit-expression.ts'
import { matchesIn } from '../expression/matches-in.ts'
import type { PolicyDocument } from '../policy-document.ts'
import type { PolicyProblem } from './policy-problem.ts'

/**
 * Finds terms of the limit that do not compile, are not numbers, include payments, or depend on the requested amount. Such
 * a term would let an applicant raise the limit by asking for more.
 */
export function checkLimit(document: PolicyDocument): PolicyProblem[] {
  const slots = policySlots(document)
  return document.limit.terms.flatMap((definition, index) => {
    if ((definition.instalment === undefined) === (definition.amount === undefined)) {
      const message = `limit term '${definition.term}' needs either an 'instalment' or an 'amount'`
      return [{ path: ['limit', 'terms', index], message }]
    }
    const { source } = limitExpression(definition)
    const wrong = checkExpression(source, { slotOf: slots.terms, types: slots.types, type: 'number' })
    const refusal = wrong ?? refusedAsBound(document, source, slots)
    return refusal === undefined ? [] : [limitProblem(definition, { ...refusal, index })]
  })
}

/** A request in a currency that the policy does not lend in has to be told so, and not that its income is unknown. */
export function checkUnlistedCurrency({ limit }: PolicyDocument): PolicyProblem[] {
  if (limit.unlisted_currency !== undefined) return []
  const message =
    'add the reason for a request in a currency that is not listed, as limit.unlisted_currency: { code: currency_not_offered, label: … }'
  return [{ path: ['limit'], message }]
}

/** A limit that counts what was paid out and not what is on offer lends it to each of several requests. */
export function checkOffersCounted({ inputs, limit, products }: PolicyDocument): PolicyProblem[] {
  if (!products.some(({ kind }) => kind === 'credit')) return []
  const lacks = (name: string) => !inputs.some(({ feature }) => feature === name)
  const messages: string[] = []
  if (lacks('offers.open_amount'))
    messages.push(
      "'offers.open_amount' is not an input, so several requests at once can each get the whole limit. Add the input, and subtract it wherever what is outstanding is subtracted",
    )
  const others = ['history.open_in_other_currency', 'offers.open_in_other_currency'].filter(lacks)
  if (limit.currencies.length > 1 && others.length > 0)
    messages.push(
      `${others.map((name) => `'${name}'`).join(' and ')} ${others.length === 1 ? 'is not an input' : 'are no inputs'}, so an applicant can get the whole limit in each of several currencies. Add what is lacking, with a rule that leaves such requests to a person`,
    )
  return messages.map((message) => ({ path: ['inputs'], message, isWarning: true }))
}

/** Why an expression may not bound the limit: it depends on the amount, on payments, or on a number that a tier lacks. */
export function refusedAsBound(
  document: PolicyDocument,
  source: string,
  slots: PolicySlots,
): { offset: number; message: string } | undefined {
  const compiled = compileExpression(source, slots.all)
  if (!('reads' in compiled)) return undefined
  if (matchesIn(source).length > 0)
    return { offset: 0, message: 'a bound is computed for each amount; put matches into a derived feature' }
  const message =
    dependsOnAmount(document, compiled.reads, slots) ??
    paymentsIn(document, compiled.reads, slots) ??
    chanceIn(document, compiled.reads, slots) ??
    lackingInTier(document, compiled.reads, slots)
  return message === undefined ? undefined : { offset: 0, message }
}

/** Why values may not be read where the amount must not matter; undefined if none of them depends on it. */
export function dependsOnAmount(
  document: PolicyDocument,
  reads: readonly number[],
  slots: PolicySlots,
): string | undefined {
  const amountSlots = slotsFromAmount(document, derivedIn(document, slots))
  const slot = reads.find((read) => amountSlots.has(read))
  if (slot === undefined) return undefined
  const [name] = [...slots.before].find(([, at]) => at === slot)!
  return `${name} depends on the requested amount, so it cannot be part of the limit`
}

function lackingInTier({ tiers }: PolicyDocument, reads: readonly number[], { all }: PolicySlots): string | undefined {
  for (const field of ['cap', 'balance_multiple'] as const) {
    if (!reads.includes(all.get(`tier.${field}`)!)) continue
    const lacking = tiers.find((tier) => tier[field] === undefined)
    if (lacking) return `tier '${lacking.tier}' has no '${field}'; add it to every tier`
  }
  return undefined
}
