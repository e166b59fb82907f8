import { type CharacterRange, type CharacterTest, characterSet, otherCharacters } from './character-set.ts'

/** The longest pattern that `matches` accepts. */
const PATTERN_CHARACTERS_MAX = 100
/** The steps of a compiled pattern; counted repetitions are written out, so `(a{50}){50}` has 2,500. */
const STEPS_MAX = 250
/** The parts that are visited to write a pattern out; repetitions of nothing, as `((){999}){999}`, add no step. */
const VISITS_MAX = 10 * STEPS_MAX

/** Whether a text contains a match of a pattern. */
export type TextPattern = (text: string) => boolean

/** What is wrong with a pattern, in words. */
export interface PatternProblem {
  message: string
}

type Part =
  | { kind: 'character'; holds: CharacterTest }
  | { kind: 'start' | 'end' }
  | { kind: 'sequence'; parts: Part[] }
  | { kind: 'choice'; options: Part[] }
  | { kind: 'repeat'; part: Part; min: number; max: number }

type Step =
  | { op: 'character'; holds: CharacterTest }
  | { op: 'start' | 'end' | 'found' }
  | { op: 'fork'; first: number; second: number }
  | { op: 'jump'; to: number }

class PatternRefusal extends Error {}

/**
 * Compiles a regular expression to a matcher whose time grows linearly with the text: it follows all alternatives at once
 * (Thompson's construction, as RE2 does), so that no pattern can make it backtrack. JavaScript's own expressions would
 * take exponential time for `(a+)+$`.
 *
 * It compares code points, so that `.` is one character also beyond the Basic Multilingual Plane, as in CEL.
 * The syntax is the part of RE2's that policies need: characters, `.`, classes, groups, `|`, `* + ? {m,n}`, `^` and `$`.
 */
export function compileTextPattern(pattern: string): TextPattern | PatternProblem {
  if (pattern.length > PATTERN_CHARACTERS_MAX)
    return { message: `a pattern has at most ${PATTERN_CHARACTERS_MAX} characters` }
  try {
    const steps = stepsOf(pattern)
    return (text) => isFound(steps, text)
  } catch (error) {
    if (!(error instanceof PatternRefusal)) throw error
    return { message: error.message }
  }
}

/** The steps that a pattern may take for each character of a text; 0 if it does not compile. */
export function patternSteps(pattern: string): number {
  return typeof compileTextPattern(pattern) === 'function' ? stepsOf(pattern).length : 0
}

function stepsOf(pattern: string): Step[] {
  const program: Program = { steps: [], visits: 0 }
  emit(new PatternParser(pattern).parse(), program)
  return [...program.steps, { op: 'found' }]
}

function isFound(steps: readonly Step[], text: string): boolean {
  const reachedAt = new Int32Array(steps.length).fill(-1)
  let current: number[] = []
  let isDone = false
  /** Adds a step and all steps that follow from it without a character; each at most once for each position. */
  const add = (index: number, position: number, into: number[]): void => {
    if (reachedAt[index] === position) return
    reachedAt[index] = position
    const step = steps[index]!
    if (step.op === 'found') isDone = true
    else if (step.op === 'character') into.push(index)
    else if (step.op === 'jump') add(step.to, position, into)
    else if (step.op === 'fork') {
      add(step.first, position, into)
      add(step.second, position, into)
    } else if (step.op === 'start' ? position === 0 : position === text.length) add(index + 1, position, into)
  }
  for (let position = 0; ; ) {
    add(0, position, current)
    if (isDone || position === text.length) return isDone
    const next: number[] = []
    const code = text.codePointAt(position)!
    position += code > LAST_OF_ONE_UNIT ? 2 : 1
    for (const index of current) {
      const step = steps[index]!
      if (step.op === 'character' && step.holds(code)) add(index + 1, position, next)
    }
    current = next
  }
}

/** The last code point that takes one unit of UTF-16. */
const LAST_OF_ONE_UNIT = 0xffff

/** The steps of a pattern so far, and the parts that were visited for them. */
interface Program {
  steps: Step[]
  visits: number
}

function emit(part: Part, program: Program): void {
  program.visits += 1
  if (program.visits > VISITS_MAX) throw tooLarge()
  switch (part.kind) {
    case 'character':
      push(program, { op: 'character', holds: part.holds })
      return
    case 'sequence':
      for (const one of part.parts) emit(one, program)
      return
    case 'choice':
      emitChoice(part.options, program)
      return
    case 'repeat':
      emitRepeat(part, program)
      return
    default:
      push(program, { op: part.kind })
  }
}

function push({ steps }: Program, step: Step): void {
  if (steps.length === STEPS_MAX) throw tooLarge()
  steps.push(step)
}

function tooLarge(): PatternRefusal {
  return new PatternRefusal('the pattern is too large; use smaller counts in { }')
}

function emitChoice([first, ...others]: readonly Part[], program: Program): void {
  if (others.length === 0) {
    emit(first!, program)
    return
  }
  const fork = pushFork(program)
  emit(first!, program)
  const jump = { op: 'jump' as const, to: 0 }
  push(program, jump)
  fork.second = program.steps.length
  emitChoice(others, program)
  jump.to = program.steps.length
}

/** Adds a fork whose first way is the next step. */
function pushFork(program: Program): { second: number } {
  const fork = { op: 'fork' as const, first: program.steps.length + 1, second: 0 }
  push(program, fork)
  return fork
}

function emitRepeat({ part, min, max }: { part: Part; min: number; max: number }, program: Program): void {
  const { steps } = program
  for (let count = 0; count < min; count++) emit(part, program)
  if (max === Infinity) {
    const start = steps.length
    const fork = pushFork(program)
    emit(part, program)
    push(program, { op: 'jump', to: start })
    fork.second = steps.length
    return
  }
  const forks: { second: number }[] = []
  for (let count = min; count < max; count++) {
    forks.push(pushFork(program))
    emit(part, program)
  }
  for (const fork of forks) fork.second = steps.length
}

const DIGIT: readonly CharacterRange[] = [[48, 57]]
const WORD: readonly CharacterRange[] = [...DIGIT, [65, 90], [95, 95], [97, 122]]
const SPACE: readonly CharacterRange[] = [
  [9, 13],
  [32, 32],
]
const LINE_FEED: readonly CharacterRange[] = [[10, 10]]

const CLASSES: Readonly<Record<string, readonly CharacterRange[]>> = {
  d: DIGIT,
  D: otherCharacters(DIGIT),
  w: WORD,
  W: otherCharacters(WORD),
  s: SPACE,
  S: otherCharacters(SPACE),
}

/** Parses a pattern by recursive descent. */
class PatternParser {
  /** The characters of the pattern, one for each code point. */
  readonly #pattern: readonly string[]
  #at = 0

  constructor(pattern: string) {
    this.#pattern = [...pattern]
  }

  parse(): Part {
    const part = this.#choice()
    if (this.#at < this.#pattern.length) throw new PatternRefusal("there is a ')' without a '('")
    return part
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? ''
  }

  #take(): string {
    if (this.#at >= this.#pattern.length) throw new PatternRefusal('the pattern ends too early')
    return this.#pattern[this.#at++]!
  }

  #choice(): Part {
    const options = [this.#sequence()]
    while (this.#peek() === '|') {
      this.#at += 1
      options.push(this.#sequence())
    }
    return { kind: 'choice', options }
  }

  #sequence(): Part {
    const parts: Part[] = []
    while (this.#at < this.#pattern.length && this.#peek() !== '|' && this.#peek() !== ')') parts.push(this.#repeated())
    return { kind: 'sequence', parts }
  }

  #repeated(): Part {
    const part = this.#single()
    const counts = this.#counts()
    if (counts === undefined) return part
    if ('*+?{'.includes(this.#peek() || ' '))
      throw new PatternRefusal(`'${this.#peek()}' cannot follow another repetition`)
    return { kind: 'repeat', part, ...counts }
  }

  #counts(): { min: number; max: number } | undefined {
    const sign = this.#peek()
    if (sign === '' || !'*+?{'.includes(sign)) return undefined
    if (sign !== '{') {
      this.#at += 1
      return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    }
    const found = /^\{(\d{1,3})(,(\d{0,3}))?\}/.exec(this.#pattern.slice(this.#at).join(''))
    if (!found) throw new PatternRefusal("write '\\{' for the character, or {m}, {m,} or {m,n}")
    this.#at += found[0].length
    const min = Number(found[1])
    if (found[2] === undefined) return { min, max: min }
    const max = found[3] === '' ? Infinity : Number(found[3])
    if (max < min) throw new PatternRefusal(`{${min},${max}} is the wrong way round`)
    return { min, max }
  }

  #single(): Part {
    const sign = this.#take()
    if (sign === '^') return { kind: 'start' }
    if (sign === '$') return { kind: 'end' }
    if (sign === '(') return this.#group()
    if ('*+?{'.includes(sign)) throw new PatternRefusal(`there is nothing before '${sign}' to repeat`)
    return { kind: 'character', holds: characterSet(this.#characters(sign)) }
  }

  #characters(sign: string): readonly CharacterRange[] {
    if (sign === '.') return otherCharacters(LINE_FEED)
    if (sign === '[') return this.#set()
    return asRanges(this.#member(sign))
  }

  #group(): Part {
    if (this.#peek() === '?') {
      if (this.#pattern[this.#at + 1] !== ':') throw new PatternRefusal("of groups with '?', only (?: ) is available")
      this.#at += 2
    }
    const part = this.#choice()
    if (this.#peek() !== ')') throw new PatternRefusal("a '(' is not closed")
    this.#at += 1
    return part
  }

  /** A character, or the ranges of a named class; `sign` was taken already. */
  #member(sign: string): number | readonly CharacterRange[] {
    if (sign !== '\\') return sign.codePointAt(0)!
    const escaped = this.#take()
    const named = Object.hasOwn(CLASSES, escaped) ? CLASSES[escaped] : undefined
    if (named) return named
    if (/[A-Za-z0-9]/.test(escaped))
      throw new PatternRefusal(`'\\${escaped}' is not available; use \\d, \\w, \\s or a class`)
    return escaped.codePointAt(0)!
  }

  #set(): CharacterRange[] {
    const isNegated = this.#peek() === '^'
    if (isNegated) this.#at += 1
    const ranges: CharacterRange[] = []
    while (this.#peek() !== ']' || ranges.length === 0) ranges.push(...this.#range())
    this.#at += 1
    return isNegated ? otherCharacters(ranges) : ranges
  }

  #range(): readonly CharacterRange[] {
    const low = this.#member(this.#take())
    const isRange = this.#peek() === '-' && this.#pattern[this.#at + 1] !== ']'
    if (!isRange) return asRanges(low)
    this.#at += 1
    const high = this.#member(this.#take())
    if (typeof low !== 'number' || typeof high !== 'number')
      throw new PatternRefusal("a range ends with a character, not with a class; write '\\-' for the character '-'")
    if (high < low) throw new PatternRefusal(`the range ${String.fromCodePoint(low, 45, high)} is the wrong way round`)
    return [[low, high]]
  }
}

function asRanges(member: number | readonly CharacterRange[]): readonly CharacterRange[] {
  return typeof member === 'number' ? [[member, member]] : member
}
