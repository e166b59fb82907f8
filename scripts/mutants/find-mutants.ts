/** One small change of a source file that a test should notice. */
export interface Mutant {
  /** Where the change begins, and what it replaces by what. */
  at: number
  from: string
  to: string
}

const SWAPS: readonly (readonly [from: string, to: string])[] = [
  [' === ', ' !== '],
  [' !== ', ' === '],
  [' <= ', ' < '],
  [' >= ', ' > '],
  [' < ', ' <= '],
  [' > ', ' >= '],
  [' && ', ' || '],
  [' || ', ' && '],
  [' + ', ' - '],
  [' - ', ' + '],
  [' * ', ' / '],
  [' / ', ' * '],
  [' += ', ' -= '],
  ['Math.min(', 'Math.max('],
  ['Math.max(', 'Math.min('],
  ['Math.floor(', 'Math.ceil('],
  ['.some(', '.every('],
  ['.every(', '.some('],
  ['if (', 'if (!'],
]
// The depth of `.flat(2)` is left out: a greater one flattens the same lists. So is an exponent, which must be a literal.
const NUMBER = /(?<![\w.$'"]|\.flat\(|\de-)\d[\d_]*(?:\.\d+)?(?![\w.])/g
const BOOLEAN = /(?<=[=(:?,] |return )(?:true|false)\b/g

/**
 * Every mutant of a formatted source file. The text is scanned, not parsed: operators have spaces around them, which the
 * brackets of types do not. Comments, texts, imports and types are left out, because a change there has no effect when run.
 */
export function findMutants(source: string): Mutant[] {
  const code = blankOut(source)
  const swaps = SWAPS.flatMap(([from, to]) => placesOf(code, from).map((at) => ({ at, from, to })))
  // One becomes zero: a comparison for sorting returns one as well as two.
  const numbers = [...code.matchAll(NUMBER)].map(({ index, 0: from }) => ({
    at: index,
    from,
    to: from === '1' ? '0' : `(${from} + 1)`,
  }))
  const booleans = [...code.matchAll(BOOLEAN)].map(({ index, 0: from }) => ({
    at: index,
    from,
    to: from === 'true' ? 'false' : 'true',
  }))
  return [
    ...swaps.map((swap) => (swap.from === 'if (' ? negated(source, code, swap.at) : swap)),
    ...numbers,
    ...booleans,
  ].sort((a, b) => a.at - b.at)
}

/** The source with one change. */
export function mutate(source: string, { at, from, to }: Mutant): string {
  return source.slice(0, at) + to + source.slice(at + from.length)
}

/** Negates the condition of an `if`, whose parentheses are kept. */
function negated(source: string, code: string, at: number): Mutant {
  const open = at + 'if '.length
  const condition = source.slice(open, closing(code, open, '()') + 1)
  return { at: open, from: condition, to: `(!${condition})` }
}

function placesOf(code: string, text: string): number[] {
  const places: number[] = []
  for (let at = code.indexOf(text); at >= 0; at = code.indexOf(text, at + 1)) places.push(at)
  return places
}

/** The code with spaces in place of comments, patterns, imports and types, and quotes in place of texts: places stay the same. */
function blankOut(source: string): string {
  const blank = (text: string) => text.replace(/[^\n]/g, ' ')
  // Not by spaces: with them, the end of `Omit<Row, 'a'> {` would read as a comparison.
  const blankText = (text: string) => text.replace(/[^\n]/g, "'")
  let code = source
    .replace(/\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*/g, (found) =>
      found.startsWith('/') ? blank(found) : blankText(found),
    )
    .replace(/(?<=[(=,] ?)\/(?![ /*])(?:\\.|\[[^\]\n]*\]|[^/\\\n])+\/[gimsuy]*/g, blank)
    // A union of numbers, such as the type of `change: 1 | -1`.
    .replace(/(?<=: )-?\d+(?: \| -?\d+)+/g, blank)
    .replace(/^(?:import|export \{|export type \{)[\s\S]*?(?=\n(?![ }]))/gm, blank)
  for (const [head] of code.matchAll(/^(?:export )?(?:interface|type) [^\n]*/gm)) {
    const start = code.indexOf(head)
    const open = code.indexOf('{', start)
    const ofLine = start + head.length
    const end = open >= 0 && open < ofLine ? closing(code, open, '{}') + 1 : endOfStatement(code, start)
    code = code.slice(0, start) + blank(code.slice(start, end)) + code.slice(end)
  }
  return code
}

/** The end of a statement that goes on over indented lines. */
function endOfStatement(code: string, start: number): number {
  const next = /\n(?=[^\s})|])/.exec(code.slice(start))
  return next ? start + next.index : code.length
}

function closing(code: string, open: number, [begin, end]: string): number {
  let depth = 0
  for (let at = open; at < code.length; at++) {
    if (code[at] === begin) depth += 1
    if (code[at] === end && --depth === 0) return at
  }
  return code.length - 1
}
