/**
 * About how wide a label of a chart is in its font of 11 px. It is rather too wide than too narrow: a margin is made from
 * it before the label is drawn, and a label that is wider than its margin would be cut.
 */
export function labelWidth(label: string): number {
  return [...label].reduce((width, character) => width + widthOf(character), 0)
}

/** The widest of some labels; 0 if there are none. */
export function widestLabel(labels: readonly string[]): number {
  return Math.max(0, ...labels.map(labelWidth))
}

/** A label that is cut to a width, with an ellipsis. */
export function fitLabel(label: string, width: number): string {
  if (labelWidth(label) <= width) return label
  const characters = [...label]
  while (characters.length > 0 && labelWidth(`${characters.join('')}…`) > width) characters.pop()
  return characters.length > 0 ? `${characters.join('')}…` : ''
}

function widthOf(character: string): number {
  if (/[\s.,:;'’|il]/.test(character)) return 4
  if (/[a-z\d−-]/.test(character)) return 7.5
  return 10
}
