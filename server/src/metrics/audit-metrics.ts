import { Counter, Gauge, type Registry } from 'prom-client'
import type { Environment } from '../config.ts'

/** Counts what was refused or found behind on the logs of one environment. */
export interface AuditMeter {
  onRefused: (entries: number) => void
  onCompared: (behind: number) => void
}

/** Registers the metrics of the audit log and creates the functions that count for an environment. */
export function createAuditMeter(registry: Registry): (environment: Environment) => AuditMeter {
  const refused = new Counter({
    name: 'verdigraph_audit_entries_refused_total',
    help: 'Audit entries that were not sealed, because this service did not write them.',
    labelNames: ['environment'],
    registers: [registry],
  })
  const behind = new Gauge({
    name: 'verdigraph_audit_logs_behind',
    help: 'Logs that end before a head which this node knows: the database lost entries, or they were deleted.',
    labelNames: ['environment'],
    registers: [registry],
  })
  return (environment) => {
    refused.inc({ environment }, 0)
    return {
      onRefused: (entries) => refused.inc({ environment }, entries),
      onCompared: (logs) => behind.set({ environment }, logs),
    }
  }
}
