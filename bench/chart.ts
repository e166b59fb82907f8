import type { Point } from './bench.ts'

/** A line chart with one line per series. */
export interface Chart {
  title: string
  x: Axis
  y: Axis
  points: readonly Point[]
}

/** One axis; a logarithmic one suits values that grow by factors. */
export interface Axis {
  label: string
  isLogarithmic?: boolean
}

const WIDTH = 760
const HEIGHT = 420
const LINE_HEIGHT = 16
const MARGIN = { top: 56, right: 178, bottom: 56, left: 72 }
const TICKS = 6
/** Okabe and Ito's palette, which colour-blind readers can tell apart. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9']

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #333 }
  .title { font-size: 16px; font-weight: 600 }
  .grid { stroke: #8884; stroke-width: 1 }
  .line { fill: none; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } }`

/** Draws a chart as SVG, readable on a light and on a dark background. */
export function drawChart({ title, x, y, points }: Chart): string {
  const xScale = scaleOf(
    points.map((point) => point.x),
    { ...x, from: MARGIN.left, to: WIDTH - MARGIN.right },
  )
  const yScale = scaleOf(
    points.map((point) => point.y),
    { ...y, from: HEIGHT - MARGIN.bottom, to: MARGIN.top },
  )
  const lines = [...Map.groupBy(points, ({ series }) => series)].map(([name, members], index) => ({
    name,
    colour: COLOURS[index % COLOURS.length]!,
    dots: members.map((point) => ({ x: xScale.place(point.x), y: yScale.place(point.y) })),
  }))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}
</style>
<text class="title" x="${MARGIN.left}" y="28">${escaped(title)}</text>
${xScale.ticks.map((tick) => verticalTick(xScale.place(tick), tick)).join('\n')}
${yScale.ticks.map((tick) => horizontalTick(yScale.place(tick), tick)).join('\n')}
<text x="${(MARGIN.left + WIDTH - MARGIN.right) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${escaped(x.label)}</text>
<text transform="translate(18 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">${escaped(y.label)}</text>
${lines.map(drawLine).join('\n')}
${labelLines(lines).join('\n')}
</svg>
`
}

interface Scale {
  ticks: number[]
  place(value: number): number
}

function scaleOf(
  values: readonly number[],
  { isLogarithmic = false, from, to }: { isLogarithmic?: boolean; from: number; to: number },
): Scale {
  const high = Math.max(...values)
  if (!isLogarithmic) {
    const step = roundStep(high / TICKS)
    const ticks = Array.from({ length: Math.ceil(high / step) + 1 }, (_, index) => index * step)
    return { ticks, place: (value) => from + ((to - from) * value) / ticks.at(-1)! }
  }
  const [least, most] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(high))]
  const decades = Math.max(1, most - least)
  const ticks = Array.from({ length: decades + 1 }, (_, index) => 10 ** (least + index))
  return { ticks, place: (value) => from + ((to - from) * (Math.log10(value) - least)) / decades }
}

/** The smallest of 1, 2 or 5 times a power of ten that is not below the given step. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= step) ?? 10)
}

interface Line {
  name: string
  colour: string
  dots: readonly { x: number; y: number }[]
}

function drawLine({ colour, dots }: Line): string {
  const path = dots.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join(' ')
  const circles = dots.map(({ x, y }) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3.5" fill="${colour}"/>`)
  return `<path class="line" stroke="${colour}" d="${path}"/>${circles.join('')}`
}

/** Labels each line beside the chart at the height where it ends; labels never overlap. */
function labelLines(lines: readonly Line[]): string[] {
  const ends = lines.map(({ name, colour, dots }) => ({ name, colour, y: dots.at(-1)!.y + 4 }))
  let lowestFree = 0
  return ends
    .sort((a, b) => a.y - b.y)
    .map(({ name, colour, y }) => {
      const labelY = Math.max(y, lowestFree)
      lowestFree = labelY + LINE_HEIGHT
      return `<text x="${WIDTH - MARGIN.right + 12}" y="${labelY.toFixed(1)}" style="fill:${colour}">${escaped(name)}</text>`
    })
}

function verticalTick(x: number, value: number): string {
  return `<line class="grid" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${MARGIN.top}" y2="${HEIGHT - MARGIN.bottom}"/><text x="${x.toFixed(1)}" y="${HEIGHT - MARGIN.bottom + 20}" text-anchor="middle">${tickText(value)}</text>`
}

function horizontalTick(y: number, value: number): string {
  return `<line class="grid" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/><text x="${MARGIN.left - 8}" y="${(y + 4).toFixed(1)}" text-anchor="end">${tickText(value)}</text>`
}

function tickText(value: number): string {
  return value >= 1 || value === 0 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)))
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)
}
