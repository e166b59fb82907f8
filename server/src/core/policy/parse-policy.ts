import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { PolicyProblem } from './check/policy-problem.ts'
import { type CheckedResult, compilePolicy } from './compile/compile-policy.ts'
import { completePolicy } from './complete-policy.ts'
import { WrittenPolicy } from './policy-document.ts'

/** The largest policy file, about nine times the sandbox policy. Replays carry the whole document. */
const SOURCE_CHARACTERS_MAX = 256 * 1024
/** The problems that are listed; an author who has more corrects these first. */
const PROBLEMS_MAX = 100
// The library lists eight otherwise.
Settings.Set({ maxErrors: PROBLEMS_MAX })

/** Parses and compiles a policy from YAML (or JSON, which is YAML); every problem has its line and column. */
export function parsePolicy(source: string): CheckedResult {
  if (source.length > SOURCE_CHARACTERS_MAX)
    return { problems: [{ path: [], message: `a policy has at most ${SOURCE_CHARACTERS_MAX} characters` }] }
  const lines = new LineCounter()
  // Keys are compared below: the library compares each with all others, which takes a minute for 20,000 of them. It would
  // also copy the line of each error into its message, which takes half a minute for a line of 262,000 quotes.
  const yaml = withoutStacks(() =>
    parseDocument(source, { lineCounter: lines, uniqueKeys: false, prettyErrors: false }),
  )
  const syntaxProblems = [...yamlErrors(yaml), ...repeatedKeys(yaml), ...aliases(yaml), ...loneSurrogates(yaml)].map(
    ({ message, offset }) => {
      const { line, col } = lines.linePos(offset)
      return { path: [], message, line, column: col }
    },
  )
  if (syntaxProblems.length > 0) return { problems: syntaxProblems.slice(0, PROBLEMS_MAX) }
  const document: unknown = yaml.toJS()
  const located = (problem: PolicyProblem): PolicyProblem => {
    const { line, col } = lines.linePos(offsetOf(problem))
    return { ...problem, line, column: col }
  }
  const offsetOf = ({ path, offset }: PolicyProblem): number => {
    const node = yaml.getIn(path, true) as { range?: [number, number, number] } | undefined
    if (node?.range == null) return path.length === 0 ? 0 : offsetOf({ path: path.slice(0, -1), message: '' })
    if (offset === undefined || !isScalar(node)) return node.range[0]
    return sourceOffset({ source, start: node.range[0], text: String(node.value), offset })
  }
  const schemaProblems = checkSchema(document)
  if (schemaProblems.length > 0) return { problems: schemaProblems.slice(0, PROBLEMS_MAX).map(located) }
  const completed = completePolicy(document as WrittenPolicy)
  if ('problems' in completed) return { problems: completed.problems.map(located) }
  const result = compilePolicy(completed.document)
  if ('policy' in result) return { ...result, warnings: result.warnings.slice(0, PROBLEMS_MAX).map(located) }
  return { problems: result.problems.slice(0, PROBLEMS_MAX).map(located) }
}

/** Runs a function whose errors are data: 131,000 stacks of them took 110 MB, and three quarters of the time. */
function withoutStacks<Result>(run: () => Result): Result {
  const limited = Error as { stackTraceLimit?: number }
  const { stackTraceLimit } = limited
  limited.stackTraceLimit = 0
  try {
    return run()
  } finally {
    limited.stackTraceLimit = stackTraceLimit ?? 10
  }
}

function yamlErrors({ errors }: Document): { message: string; offset: number }[] {
  return errors.map(({ message, pos }) => ({ message, offset: pos[0] }))
}

function repeatedKeys(yaml: Document): { message: string; offset: number }[] {
  const found: { message: string; offset: number }[] = []
  visit(yaml, {
    Map(_key, { items }) {
      const names = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (names.has(key.value)) found.push({ message: 'Map keys must be unique', offset: startOf(key) })
        names.add(key.value)
      }
    },
  })
  return found
}

/** Finds aliases: a few can expand to gigabytes, and a policy should be readable without looking them up. */
function aliases(yaml: Document): { message: string; offset: number }[] {
  const found: { message: string; offset: number }[] = []
  visit(yaml, {
    Alias(_key, alias) {
      found.push({ message: 'policies cannot use aliases; write the value out', offset: startOf(alias) })
    },
  })
  return found
}

/** A lone surrogate cannot be encoded in UTF-8, so the document would have no checksum. */
function loneSurrogates(yaml: Document): { message: string; offset: number }[] {
  const found: { message: string; offset: number }[] = []
  visit(yaml, {
    Scalar(_key, scalar) {
      if (typeof scalar.value !== 'string' || scalar.value.isWellFormed()) return
      found.push({ message: 'this text contains a lone surrogate; write the whole character', offset: startOf(scalar) })
    },
  })
  return found
}

/** Where a node begins in the source. The parser gives every node a range; only nodes made by hand have none. */
function startOf({ range }: { range?: readonly [number, number, number] | null | undefined }): number {
  return range?.[0] ?? 0
}

/** The violations of the policy schema. */
function checkSchema(document: unknown): PolicyProblem[] {
  return Value.Errors(WrittenPolicy, document).flatMap((error) => {
    const path = error.instancePath.split('/').slice(1).map(pathSegment)
    if (error.keyword === 'boolean') return [{ path, message: `there is no field '${path.at(-1)}' here` }]
    if (error.keyword === 'additionalProperties') return []
    if (error.keyword === 'enum')
      return [
        { path, message: `must be one of ${(error.params as { allowedValues: unknown[] }).allowedValues.join(', ')}` },
      ]
    return [{ path, message: error.message }]
  })
}

function pathSegment(segment: string): string | number {
  const key = segment.replaceAll('~1', '/').replaceAll('~0', '~')
  return /^\d+$/.test(key) ? Number(key) : key
}

/**
 * The offset in the source of a character of a scalar. YAML may fold and indent the text, but it changes only white
 * space, so source and value have the same number of other characters before it.
 */
function sourceOffset(place: { source: string; start: number; text: string; offset: number }): number {
  const { source, text, offset } = place
  let before = text.slice(0, offset).replace(/\s/g, '').length
  let position = contentStart(source, place.start)
  while (position < source.length && (before > 0 || /\s/.test(source.charAt(position)))) {
    if (!/\s/.test(source.charAt(position))) before -= 1
    position += 1
  }
  return position
}

/** Skips the quote, or the line with `>-`, before the text itself. */
function contentStart(source: string, start: number): number {
  const first = source.charAt(start)
  if (first === '"' || first === "'") return start + 1
  return first === '>' || first === '|' ? source.indexOf('\n', start) + 1 : start
}
