import { isMap, isPair, isScalar, parseDocument, type YAMLMap } from 'yaml'

/** The calibration points of a scorecard: that of a segment, or of the document. */
export interface CardPoints {
  segment: string | null
  points: number
}

/** The text of a policy with other calibration points, under another version if one is given; the rest of it stays as it is written. */
export function calibrateSource(source: string, cards: readonly CardPoints[], version?: string): string {
  const calibrated = cards.reduce(withPoints, source)
  return version === undefined ? calibrated : withVersion(calibrated, version)
}

function withPoints(source: string, { segment, points }: CardPoints): string {
  const card = cardIn(source, segment)
  const known = pairOf(card, 'calibration_points')
  if (known) return replaced(source, known.value, String(points))
  const [at] = rangeOf(pairOf(card, 'probability')?.key)
  const lineStart = source.lastIndexOf('\n', at - 1) + 1
  const indent = source.slice(lineStart, at)
  return /^ *$/.test(indent)
    ? `${source.slice(0, lineStart)}${indent}calibration_points: ${points}\n${source.slice(lineStart)}`
    : `${source.slice(0, at)}"calibration_points": ${points}, ${source.slice(at)}`
}

function withVersion(source: string, version: string): string {
  const { contents } = parseDocument(source)
  return isMap(contents) ? replaced(source, pairOf(contents, 'version')?.value, JSON.stringify(version)) : source
}

function cardIn(source: string, segment: string | null): YAMLMap {
  const document = parseDocument(source)
  const { segments = [] } = document.toJS() as { segments?: { name: string }[] }
  const index = segments.findIndex(({ name }) => name === segment)
  const card = document.getIn(segment === null ? ['scorecard'] : ['segments', index, 'scorecard'])
  if (!isMap(card)) throw new Error(`the policy has no scorecard ${segment ?? ''}`)
  return card
}

function pairOf(map: YAMLMap, name: string): { key: unknown; value: unknown } | undefined {
  return map.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === name)
}

function replaced(source: string, node: unknown, text: string): string {
  const [from, to] = rangeOf(node)
  return `${source.slice(0, from)}${text}${source.slice(to)}`
}

function rangeOf(node: unknown): readonly [number, number] {
  if (!isScalar(node) || !node.range) throw new Error('the policy has no such field')
  return [node.range[0], node.range[1]]
}
