import { Counter, type Registry } from 'prom-client'
import type { Environment } from '../config.ts'

/** Registers the metrics of the audit log and creates the function that counts refused entries of an environment. */
export function createAuditMeter(
  registry: Registry,
): (environment: Environment) => { onRefused: (entries: number) => void } {
  const refused = new Counter({
    name: 'verdigraph_audit_entries_refused_total',
    help: 'Audit entries that were not sealed, because this service did not write them.',
    labelNames: ['environment'],
    registers: [registry],
  })
  return (environment) => {
    refused.inc({ environment }, 0)
    return { onRefused: (entries) => refused.inc({ environment }, entries) }
  }
}
