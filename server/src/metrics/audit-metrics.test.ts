import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createAuditMeter } from './audit-metrics.ts'

test('every entry of a refused list is counted, in its environment', async () => {
  const registry = new Registry()
  const measure = createAuditMeter(registry)
  const [sandbox] = [measure('sandbox'), measure('production')]
  sandbox.onRefused(3)
  sandbox.onRefused(1)
  const text = await registry.metrics()
  assert.match(text, /verdigraph_audit_entries_refused_total\{environment="sandbox"\} 4/)
  assert.match(text, /verdigraph_audit_entries_refused_total\{environment="production"\} 0/)
})
