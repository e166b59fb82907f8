import type { Chart } from './chart.ts'

/** The charts, by the name that their points carry. */
export const CHARTS: Readonly<Record<string, Omit<Chart, 'points'>>> = {
  saturation: {
    title: 'Underwriting over HTTP on PostgreSQL, from low load to overload',
    x: { label: 'answered decisions per second' },
    y: { label: 'milliseconds', isLogarithmic: true },
  },
  memory: {
    title: 'Memory of the process by decisions made',
    x: { label: 'decisions' },
    y: { label: 'MiB resident' },
  },
  growth: {
    title: 'Underwriting as the store grows',
    x: { label: 'stored rows', isLogarithmic: true },
    y: { label: 'milliseconds, median' },
  },
}
