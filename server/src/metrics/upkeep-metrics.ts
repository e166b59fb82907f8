import { Gauge, type Registry } from 'prom-client'
import type { Environment } from '../config.ts'

/** Registers the gauge of calibration, and returns the function that sets for how many organizations of an environment expectation and outcome have parted. */
export function registerCalibration(registry: Registry): (environment: Environment, parted: number) => void {
  const gauge = new Gauge({
    name: 'verdigraph_calibration_parted',
    help: 'Organizations whose active policy expects another bad rate than was observed, as this node measured last.',
    labelNames: ['environment'],
    registers: [registry],
  })
  return (environment, parted) => gauge.set({ environment }, parted)
}

/** Registers the gauge of upkeep, and returns the function that notes that a round of an environment is done. */
export function registerUpkeep(registry: Registry): (environment: Environment, nowMs: number) => void {
  const gauge = new Gauge({
    name: 'verdigraph_upkeep_done_timestamp_seconds',
    help: 'When this node last ended a round of upkeep in which nothing failed, in seconds since 1970.',
    labelNames: ['environment'],
    registers: [registry],
  })
  return (environment, nowMs) => gauge.set({ environment }, nowMs / 1_000)
}
