import { Environment } from '@marcbachmann/cel-js'
import type { PolicyInput } from './policy-document.ts'

const CEL_TYPES = { number: 'double', string: 'string', boolean: 'bool' } as const

// Authors write `amount * 2`; CEL itself would require `2.0`.
const MIXED_ARITHMETIC: Record<string, (left: number, right: number) => number> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
}

/** A CEL environment without variables, in which integers and doubles can be mixed. */
export function numericEnvironment(): Environment {
  const environment = new Environment({ limits: { maxAstNodes: 200, maxDepth: 30, maxListElements: 300 } })
  for (const [operator, apply] of Object.entries(MIXED_ARITHMETIC)) {
    const handler = (left: number | bigint, right: number | bigint) => apply(Number(left), Number(right))
    environment.registerOperator(`double ${operator} int`, handler)
    environment.registerOperator(`int ${operator} double`, handler)
  }
  return environment.registerOperator('double == int', (left: number, right: bigint) => left === Number(right))
}

/** The CEL environment in which the rules of a policy with these inputs are type-checked. */
export function expressionEnvironment(inputs: readonly PolicyInput[]): Environment {
  const environment = numericEnvironment()
  for (const [namespace, fields] of fieldsByNamespace(inputs)) {
    const typeName = `${namespace.charAt(0).toUpperCase()}${namespace.slice(1)}Facts`
    environment.registerType(typeName, { ctor: class {}, fields: Object.fromEntries(fields) })
    environment.registerVariable(namespace, typeName)
  }
  return environment
}

/** Groups features by namespace. A name with a second dot is left out: CEL would read it as a field of a field. */
function fieldsByNamespace(inputs: readonly PolicyInput[]): Map<string, [string, string][]> {
  const namespaces = new Map<string, [string, string][]>()
  for (const { feature, type } of inputs) {
    const [namespace = '', field = '', ...rest] = feature.split('.')
    if (rest.length > 0) continue
    const fields = namespaces.get(namespace) ?? []
    fields.push([field, CEL_TYPES[type]])
    namespaces.set(namespace, fields)
  }
  return namespaces
}
