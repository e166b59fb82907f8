/** The sandbox policy as zen decision graphs, generated from the policy document. */
import type { PolicyCharacteristic, PolicyDocument } from '../../server/src/core/policy/policy-document.ts'
import { appliesInput } from './decision-case.ts'
import { featuresOf, portableRules, type RuleCondition, writtenOperand } from './rule-condition.ts'

/** A decision graph in zen's JSON Decision Model. */
export interface ZenGraph {
  nodes: { id: string; type: string; name: string; content?: object }[]
  edges: { id: string; type: 'edge'; sourceId: string; targetId: string }[]
}

/**
 * Two tables, one for the rules and one for the bins; both collect every row that holds. One table per characteristic
 * would be easier to read but slower to trace, because every node of a trace carries its own copy of the input.
 */
export function zenTables(document: PolicyDocument): ZenGraph {
  const { base, characteristics } = document.scorecard
  const ruleRows = portableRules(document).map(({ id, condition }) => ({
    _id: id,
    when: expressionOf(condition),
    rule: quoted(id),
  }))
  return {
    nodes: [
      { id: 'input', type: 'inputNode', name: 'input' },
      collectingTable('rules', ['rule'], ruleRows),
      collectingTable('lines', ['characteristic', 'points'], characteristics.flatMap(binRows)),
      expressions('total', { hits: 'map(rules, #.rule)', total: `${base} + sum(map(lines, #.points))` }),
      { id: 'output', type: 'outputNode', name: 'output' },
    ],
    edges: [
      edge('input', 'rules'),
      edge('input', 'lines'),
      edge('rules', 'total'),
      edge('lines', 'total'),
      edge('total', 'output'),
    ],
  }
}

/**
 * One expression node for everything: the smallest trace that zen can give. It shows the points of a characteristic, but
 * not the bin they came from.
 */
export function zenExpressions(document: PolicyDocument): ZenGraph {
  const { base, characteristics } = document.scorecard
  const rules = portableRules(document).map(({ id, condition }) => [`rules.${id}`, expressionOf(condition)])
  const points = characteristics.map((characteristic) => [`points.${characteristic.id}`, pointsOf(characteristic)])
  const total = `${base} + ${characteristics.map(({ id }) => `$.points.${id}`).join(' + ')}`
  return {
    nodes: [
      { id: 'input', type: 'inputNode', name: 'input' },
      expressions('decide', { ...Object.fromEntries([...rules, ...points]), total }),
      { id: 'output', type: 'outputNode', name: 'output' },
    ],
    edges: [edge('input', 'decide'), edge('decide', 'output')],
  }
}

function edge(sourceId: string, targetId: string): ZenGraph['edges'][number] {
  return { id: `${sourceId}-${targetId}`, type: 'edge', sourceId, targetId }
}

function collectingTable(name: string, outputs: readonly string[], rules: object[]): ZenGraph['nodes'][number] {
  const content = {
    hitPolicy: 'collect',
    outputPath: name,
    // A column without a field takes whole expressions.
    inputs: [{ id: 'when', name: 'when' }],
    outputs: outputs.map((field) => ({ id: field, name: field, field })),
    rules,
  }
  return { id: name, type: 'decisionTableNode', name, content }
}

function expressions(name: string, values: Record<string, string>): ZenGraph['nodes'][number] {
  const list = Object.entries(values).map(([key, value]) => ({ id: key, key, value }))
  return { id: name, type: 'expressionNode', name, content: { expressions: list } }
}

function expressionOf(condition: RuleCondition): string {
  switch (condition.kind) {
    case 'all':
      return condition.parts.map((part) => `(${expressionOf(part)})`).join(' and ')
    case 'any':
      return condition.parts.map((part) => `(${expressionOf(part)})`).join(' or ')
    case 'missing':
      return `${condition.feature} == null`
    case 'known':
      return `${condition.feature} != null`
    case 'compare': {
      const { one, comparator, other } = condition
      // Comparing with null is an error in zen, and an error aborts the whole expression node.
      const known = [one, other].flatMap(featuresOf).map((name) => `${name} != null`)
      return [...known, `${writtenOperand(one)} ${comparator} ${writtenOperand(other)}`].join(' and ')
    }
  }
}

function binRows({ id, feature, bins, missing, reference }: PolicyCharacteristic): object[] {
  const row = (bin: string | number, conditions: string[], points: number) => ({
    _id: `${id}-${bin}`,
    when: conditions.join(' and '),
    characteristic: quoted(id),
    points: String(points),
  })
  const applies = appliesInput(id)
  const ranges = bins.map(({ below, points }, index) => {
    const from = bins[index - 1]?.below
    const bounds = [
      ...(from === undefined ? [] : [`${feature} >= ${from}`]),
      ...(below === undefined ? [] : [`${feature} < ${below}`]),
    ]
    return row(index, [`${feature} != null`, ...bounds], points)
  })
  return [
    row('not-applicable', [`not ${applies}`], reference),
    row('missing', [applies, `${feature} == null`], missing),
    ...ranges,
  ]
}

function pointsOf({ id, feature, bins, missing, reference }: PolicyCharacteristic): string {
  const steps = bins.map(({ below, points }) => (below === undefined ? points : `${feature} < ${below} ? ${points} : `))
  const known = `${feature} == null ? ${missing} : ${steps.join('')}`
  return `${appliesInput(id)} ? (${known}) : ${reference}`
}

function quoted(value: number | string | string[]): string {
  return JSON.stringify(value)
}
