import type { Chart } from './chart.ts'

/** What is drawn, by the name that points give. */
export const CHARTS: Readonly<Record<string, Omit<Chart, 'points'>>> = {
  saturation: {
    title: 'Underwriting over HTTP on PostgreSQL, from little load to too much',
    x: { label: 'answered decisions per second' },
    y: { label: 'milliseconds', isLogarithmic: true },
  },
  memory: {
    title: 'Memory of the process as decisions go by',
    x: { label: 'decisions' },
    y: { label: 'MiB resident' },
  },
  growth: {
    title: 'Underwriting as the store grows',
    x: { label: 'stored rows', isLogarithmic: true },
    y: { label: 'milliseconds, median' },
  },
}
