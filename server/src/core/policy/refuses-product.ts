import type { CompiledPolicy } from './compiled-policy.ts'

/** Whether a policy refuses requests for a product that it does not list, instead of deciding by the default terms. */
export function refusesProduct({ document, products }: CompiledPolicy, product: string): boolean {
  return document.unknown_products === 'refuse' && !products.has(product)
}
