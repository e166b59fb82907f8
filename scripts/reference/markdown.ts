/** A page of the reference before it is written: its body, and what its first sentence says. */
export interface Page {
  title: string
  /** What it lists, as the start of a sentence. */
  lists: string
  /** The file it is generated from, as a path from the root of the repository. */
  source: string
  /** Blocks of Markdown, to be separated by empty lines. */
  body: readonly string[]
}

/** The text of a page: its title, one sentence on what it lists and where that comes from, and its body. */
export function renderPage({ title, lists, source, body }: Page): string {
  const opening = `${capitalized(lists)}, generated from [\`${source}\`](../../${source}) by \`npm run goldens\`.`
  return `${[`# ${title}`, opening, ...body].join('\n\n')}\n`
}

/** A Markdown table; pipes and line breaks inside cells are escaped. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n')
}

/** Inline code. */
export function code(text: string): string {
  return `\`${text}\``
}

/** Several pieces of inline code, separated by commas. */
export function codes(texts: readonly string[]): string {
  return texts.map(code).join(', ')
}

/** A sentence or cell that starts with a capital letter. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The anchor that GitHub gives a heading. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

/** GitHub reads a backslash before a pipe even inside code, and `<br>` as a line break. */
function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', '<br>')
}
