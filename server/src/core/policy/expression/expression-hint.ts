/** What people write who know another language, and how CEL writes it. */
const IN_CEL: Readonly<Record<string, string>> = { and: '&&', or: '||', not: '!', '=': '==', '<>': '!=' }

const TEXT = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g
const FOREIGN = /\b(?:and|or|not)\b|<>|(?<![=<>!])=(?!=)/i

/** What to write instead of the first operator that CEL does not have; undefined if there is none. */
export function hintFor(source: string): { offset: number; message: string } | undefined {
  // Texts are blanked out, so that an `and` inside one is not an operator.
  const code = source.replace(TEXT, (text) => ' '.repeat(text.length))
  const found = FOREIGN.exec(code)
  if (!found) return undefined
  const [operator] = found
  return { offset: found.index, message: `write ${IN_CEL[operator.toLowerCase()]} instead of ${operator}` }
}
