import type { ProductKind } from '../../vocabularies.ts'
import type { PolicyProduct } from '../policy-document.ts'
import type { AmountPrice, ProductTerms } from './compiled-policy.ts'

/** Compiles the terms of each product, and of each tier that has a price of its own. */
export function compileProducts(products: readonly PolicyProduct[]): Map<string, ProductTerms> {
  return new Map(products.map((product) => [product.product, compileProduct(product)]))
}

/** Whether a product has a price that depends on the amount. */
export function isPricedByAmount(products: readonly PolicyProduct[]): boolean {
  return products.some(({ rates = [] }) => rates.some(({ from }) => from !== undefined))
}

/** The terms that a product has without a choice, and those that an applicant may choose in their place. */
function compileProduct({ term_choices, ...product }: PolicyProduct): ProductTerms {
  const terms = pricedProduct(product)
  if (term_choices === undefined) return terms
  return {
    ...terms,
    byTerm: new Map(term_choices.map((term_months) => [term_months, pricedProduct({ ...product, term_months })])),
  }
}

function pricedProduct({ rates, annual_rate = 0, ...product }: Omit<PolicyProduct, 'term_choices'>): ProductTerms {
  const terms = termsAt(product, annual_rate)
  if (rates === undefined) return terms
  const prices = rates
    .toSorted((a, b) => (a.from ?? 0) - (b.from ?? 0))
    .map(({ tier, from = 0, annual_rate: rate }) => ({ tier, from, terms: termsAt(product, rate) }))
  const byTier = [...Map.groupBy(prices, ({ tier }) => tier)].map(
    ([tier, ofTier]) => [tier, ofTier.map(({ from, terms }): AmountPrice => ({ from, terms }))] as const,
  )
  return { ...terms, byTier: new Map(byTier) }
}

function termsAt(
  product: Omit<PolicyProduct, 'rates' | 'annual_rate' | 'term_choices'>,
  annual_rate: number,
): ProductTerms {
  const { term_months = 0, fee_rate = 0, fee_amount = 0, minimum = 0, maximum } = product
  return {
    product: product.product,
    kind: kindOf(product),
    term_months,
    annual_rate,
    annuityFactor: annuityFactor(term_months, annual_rate),
    feeRate: fee_rate,
    feeAmount: fee_amount,
    minimum,
    maximum,
    byTier: undefined,
    byTerm: undefined,
  }
}

/** The credit that one unit of monthly instalment repays: its instalments, discounted. */
function annuityFactor(termMonths: number, annualRate: number): number {
  const discount = 1 / (1 + annualRate / 12)
  let factor = 0
  let present = 1
  for (let month = 1; month <= termMonths; month++) {
    present *= discount
    factor += present
  }
  return factor
}

/** What a product gives. Without a kind it is credit, so that a forgotten amount is an error and not access. */
export function kindOf({ kind = 'credit' }: Pick<PolicyProduct, 'kind'>): ProductKind {
  return kind
}
