type Labels = Record<string, string>

/** Something that can be written out for Prometheus. */
interface Metric {
  lines(): string[] | Promise<string[]>
}

/** A number at this moment. */
export interface Reading {
  labels: Labels
  value: number
}

/** The figures of this process, in Prometheus' text format. */
export class Metrics {
  readonly #metrics: Metric[] = []

  /** A number that only grows. */
  counter(name: string, help: string): Counter {
    return this.#add(new Counter(name, help))
  }

  /** A distribution over fixed bounds. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return this.#add(new Histogram(name, help, bounds))
  }

  /** A number that is asked for when the figures are read. */
  gauge(name: string, help: string, read: () => Reading[] | Promise<Reading[]>): void {
    this.#add({
      lines: async () => [
        ...header(name, help, 'gauge'),
        ...(await read()).map(({ labels, value }) => `${name}${labelText(labels)} ${value}`),
      ],
    })
  }

  /** All figures. What cannot be told now is left out: a database that is away is when the others are needed most. */
  async text(): Promise<string> {
    const lines = await Promise.allSettled(this.#metrics.map(async (metric) => metric.lines()))
    return `${lines.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])).join('\n')}\n`
  }

  #add<M extends Metric>(metric: M): M {
    this.#metrics.push(metric)
    return metric
  }
}

/** A number that only grows, for each set of labels. */
export class Counter {
  readonly #name: string
  readonly #help: string
  readonly #values = new Map<string, number>()

  constructor(name: string, help: string) {
    this.#name = name
    this.#help = help
  }

  increment(labels: Labels, by = 1): void {
    const key = labelText(labels)
    this.#values.set(key, (this.#values.get(key) ?? 0) + by)
  }

  lines(): string[] {
    return [
      ...header(this.#name, this.#help, 'counter'),
      ...[...this.#values].map(([labels, value]) => `${this.#name}${labels} ${value}`),
    ]
  }
}

/** How often values fell below each bound, for each set of labels. */
export class Histogram {
  readonly #name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #series = new Map<string, { labels: Labels; buckets: number[]; count: number; sum: number }>()

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name
    this.#help = help
    this.#bounds = bounds
  }

  observe(labels: Labels, value: number): void {
    const key = labelText(labels)
    const series = this.#series.get(key) ?? { labels, buckets: this.#bounds.map(() => 0), count: 0, sum: 0 }
    this.#series.set(key, series)
    series.count += 1
    series.sum += value
    this.#bounds.forEach((bound, index) => {
      if (value <= bound) series.buckets[index]! += 1
    })
  }

  lines(): string[] {
    const lines = [...this.#series.values()].flatMap(({ labels, buckets, count, sum }) => [
      ...this.#bounds.map(
        (bound, index) => `${this.#name}_bucket${labelText({ ...labels, le: String(bound) })} ${buckets[index]}`,
      ),
      `${this.#name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`,
      `${this.#name}_sum${labelText(labels)} ${sum}`,
      `${this.#name}_count${labelText(labels)} ${count}`,
    ])
    return [...header(this.#name, this.#help, 'histogram'), ...lines]
  }
}

function header(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

/** Asked for with every request, so it makes no lists on the way. */
function labelText(labels: Labels): string {
  let pairs = ''
  for (const name in labels) pairs += `${pairs === '' ? '' : ','}${name}="${escaped(labels[name]!)}"`
  return pairs === '' ? '' : `{${pairs}}`
}

function escaped(value: string): string {
  return /[\\"\n]/.test(value) ? value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`)) : value
}
