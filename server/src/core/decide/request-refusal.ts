import type { FactSet } from '../facts/facts.ts'
import type { CompiledPolicy, ProductTerms } from '../policy/compile/compiled-policy.ts'

/** What is asked for, as far as a policy may refuse to decide it. */
export interface AskedProduct {
  product: string
  requested_amount?: number | undefined
  term_months?: number | undefined
}

/** What is asked for in a dry run, as its facts have it. */
export function askedIn(features: FactSet): AskedProduct {
  const read = (name: string) => {
    const fact = features[name]
    return fact && 'value' in fact ? fact.value : undefined
  }
  const [product, amount, term] = ['request.product', 'request.amount', 'request.term_months'].map(read)
  return {
    product: product === undefined ? 'default' : String(product),
    requested_amount: amount === undefined ? undefined : Number(amount),
    term_months: term === undefined ? undefined : Number(term),
  }
}

/** Why a policy does not decide a request, with a message that says what to send instead. */
export interface RequestRefusal {
  code: 'unknown_product' | 'amount_required' | 'amount_not_allowed' | 'term_not_allowed'
  message: string
}

/**
 * Why a policy does not decide a request: it refuses the product, credit has no amount, access has one, or the product does not
 * have the chosen term. A product that is not listed is of the kind of `default`. Undefined if the policy decides the request.
 */
export function refusalOf(
  policy: CompiledPolicy,
  { product, requested_amount, term_months }: AskedProduct,
): RequestRefusal | undefined {
  const { document, products, defaultProduct } = policy
  const listed = products.get(product)
  if (listed === undefined && document.unknown_products === 'refuse') {
    const message = `The active policy ${document.version} has no product '${product}'. Send one of: ${namesOf(products)}.`
    return { code: 'unknown_product', message }
  }
  const terms = listed ?? defaultProduct
  const { kind } = terms
  if (kind === 'credit' && requested_amount === undefined)
    return { code: 'amount_required', message: `${standing(policy, product)}: ${AMOUNT_MISSING} ${accessHint(policy)}` }
  if (kind === 'access' && requested_amount !== undefined)
    return {
      code: 'amount_not_allowed',
      message: `${standing(policy, product)}: ${AMOUNT_GIVEN} ${creditHint(policy)}`,
    }
  if (term_months === undefined || hasTerm(terms, term_months)) return undefined
  return { code: 'term_not_allowed', message: `${standing(policy, product)}: ${termHint(terms)}` }
}

function hasTerm({ term_months, byTerm }: ProductTerms, term: number): boolean {
  return byTerm !== undefined && (term === term_months || byTerm.has(term))
}

function termHint({ kind, term_months, byTerm }: ProductTerms): string {
  if (kind === 'access') return 'leave out term_months, which only credit has.'
  if (byTerm === undefined)
    return `its term is ${term_months} months and not the applicant's choice; leave out term_months.`
  const terms = [term_months, ...byTerm.keys()].sort((a, b) => a - b)
  return `its terms are ${terms.join(', ')} months; send one of them as term_months, or leave it out for ${term_months}.`
}

const AMOUNT_MISSING = 'send requested_amount and currency.'
const AMOUNT_GIVEN = 'send neither requested_amount nor currency.'

/** What a product is under a policy, as the start of a sentence. */
function standing({ document, products, defaultProduct }: CompiledPolicy, product: string): string {
  const listed = products.get(product)
  return listed === undefined
    ? `The policy ${document.version} does not list '${product}' and takes it as 'default', which is ${defaultProduct.kind}`
    : `'${product}' is ${listed.kind} under the policy ${document.version}`
}

function accessHint({ products }: CompiledPolicy): string {
  const names = namesOf(products, 'access')
  return names === ''
    ? 'For access without credit, the policy has to list a product of kind access.'
    : `For access without credit, send one of these products: ${names}.`
}

function creditHint({ products }: CompiledPolicy): string {
  const names = namesOf(products, 'credit')
  return names === ''
    ? 'For credit, the policy has to list a product of kind credit.'
    : `For credit, send one of these products: ${names}.`
}

/** The products that a message lists; a policy may have hundreds. */
const PRODUCTS_LISTED_MAX = 20

function namesOf(products: CompiledPolicy['products'], kind?: ProductTerms['kind']): string {
  const listed = [...products.values()].filter((terms) => kind === undefined || terms.kind === kind)
  return listed
    .slice(0, PRODUCTS_LISTED_MAX)
    .map(({ product }) => product)
    .join(', ')
}
