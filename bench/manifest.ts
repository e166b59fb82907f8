import type { Bench } from './bench.ts'
import { runDecide } from './decide/run-decide.ts'
import { runUnderwriteEmbedded, runUnderwritePostgres } from './underwrite/run-underwrite.ts'
import { runWebhooks } from './webhooks/run-webhooks.ts'

/** Everything that is measured, against what, and what it is meant to reach. */
export const BENCHES: readonly Bench[] = [
  {
    name: 'decide',
    what: 'one decision with its full trace under the sandbox policy, against the same rules and points elsewhere',
    yardsticks: [
      { name: 'zen, with trace', aim: { ratio: 'speed', atLeast: 50 } },
      { name: 'zen, with trace, one at a time' },
      { name: 'zen, with trace as text' },
      { name: 'zen, as one expression node, with trace' },
      { name: 'zen, without trace' },
      { name: 'json-rules-engine' },
      { name: 'hand-written, no trace', aim: { ratio: 'cost', atMost: 5 } },
    ],
    run: runDecide,
  },
  {
    name: 'underwrite',
    what: 'durable underwriting over HTTP on PostgreSQL, 64 connections',
    yardsticks: [
      { name: 'bare batched loop', aim: { ratio: 'speed', atLeast: 0.5 } },
      { name: 'naive service', aim: { ratio: 'speed', atLeast: 5 } },
      { name: '50 ms', ours: 'p99 at 70 % of peak', aim: { ratio: 'cost', atMost: 1 } },
    ],
    run: runUnderwritePostgres,
  },
  {
    name: 'underwrite, embedded',
    what: 'the same on the embedded database',
    yardsticks: [{ name: 'bare batched loop', aim: { ratio: 'speed', atLeast: 0.5 } }],
    run: runUnderwriteEmbedded,
  },
  {
    name: 'webhooks',
    what: 'deliveries to a receiver on this machine, leased, signed and recorded on PostgreSQL',
    yardsticks: [{ name: 'bare undici loop', aim: { ratio: 'speed', atLeast: 0.5 } }],
    run: runWebhooks,
  },
]
