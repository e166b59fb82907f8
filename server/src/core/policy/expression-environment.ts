import { Environment } from '@marcbachmann/cel-js'

/** A CEL environment without variables. Its limits bound what an expression costs, to parse and to run. */
export function boundedEnvironment(): Environment {
  return new Environment({ limits: { maxAstNodes: 200, maxDepth: 30 } })
}
