import type { ProductKind } from '../../vocabularies.ts'
import type { PolicyProduct } from '../policy-document.ts'
import type { ProductTerms } from './compiled-policy.ts'

/** Compiles the terms of each product, and of each tier that has a price of its own. */
export function compileProducts(products: readonly PolicyProduct[]): Map<string, ProductTerms> {
  return new Map(products.map((product) => [product.product, compileProduct(product)]))
}

function compileProduct({ rates, annual_rate = 0, ...product }: PolicyProduct): ProductTerms {
  const terms = termsAt(product, annual_rate)
  if (rates === undefined) return terms
  return { ...terms, byTier: new Map(rates.map(({ tier, annual_rate: rate }) => [tier, termsAt(product, rate)])) }
}

function termsAt(product: Omit<PolicyProduct, 'rates' | 'annual_rate'>, annual_rate: number): ProductTerms {
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
