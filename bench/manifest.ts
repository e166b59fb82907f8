import type { Bench } from './bench.ts'
import { runDecide } from './decide/run-decide.ts'
import { runGrowth } from './growth/run-growth.ts'
import { runHolders } from './holders/run-holders.ts'
import { runIngestEmbedded, runIngestPostgres } from './ingest/run-ingest.ts'
import { runLists } from './lists/run-lists.ts'
import { runMemory } from './memory/run-memory.ts'
import { runReplayEmbedded, runReplayPostgres } from './replay/run-replay.ts'
import { runStart } from './start/run-start.ts'
import { runStorage } from './storage/run-storage.ts'
import { runUnderwriteEmbedded, runUnderwritePostgres } from './underwrite/run-underwrite.ts'
import { runWebhooks } from './webhooks/run-webhooks.ts'

/** Every bench with its yardsticks and aims. */
export const BENCHES: readonly Bench[] = [
  {
    name: 'decide',
    what: 'one decision with its full trace under the sandbox policy, against other engines with the same rules and points',
    yardsticks: [
      { name: 'zen, with trace', peer: '@gorules/zen-engine', aim: { ratio: 'speed', atLeast: 70 } },
      { name: 'zen, with trace, one at a time', peer: '@gorules/zen-engine' },
      { name: 'zen, with trace as text', peer: '@gorules/zen-engine' },
      { name: 'zen, as one expression node, with trace', peer: '@gorules/zen-engine' },
      { name: 'zen, without trace', peer: '@gorules/zen-engine' },
      { name: 'json-rules-engine', peer: 'json-rules-engine' },
      { name: 'hand-written, no trace', aim: { ratio: 'cost', atMost: 5 } },
    ],
    run: runDecide,
  },
  {
    name: 'underwrite',
    what: 'durable underwriting over HTTP on PostgreSQL, 64 connections',
    yardsticks: [
      { name: 'bare batched loop', aim: { ratio: 'speed', atLeast: 0.5 } },
      { name: 'naive service', peer: 'json-rules-engine', aim: { ratio: 'speed', atLeast: 6 } },
      { name: 'naive service on our running sums', peer: 'json-rules-engine', aim: { ratio: 'speed', atLeast: 5 } },
      { name: '50 ms', ours: 'p99 at 70 % of peak', aim: { ratio: 'cost', atMost: 1 } },
      { name: 'peak', ours: 'answered at twice the peak', aim: { ratio: 'speed', atLeast: 0.8 } },
      { name: 'one process', ours: 'two processes' },
    ],
    run: runUnderwritePostgres,
  },
  {
    name: 'start',
    what: 'from the start of the process to the first answered decision, embedded',
    yardsticks: [
      { name: 'bare, first run', ours: 'first run', aim: { ratio: 'cost', atMost: 1.2 } },
      { name: 'bare, first run on a prepared database', ours: 'first run' },
      { name: 'bare, later run', ours: 'later run', aim: { ratio: 'cost', atMost: 1.3 } },
      { name: 'later run from source', ours: 'later run' },
      { name: 'later run from source', ours: 'second run' },
    ],
    run: runStart,
  },
  {
    name: 'underwrite, embedded',
    what: 'the same on the embedded database',
    yardsticks: [{ name: 'bare batched loop', aim: { ratio: 'speed', atLeast: 0.5 } }],
    run: runUnderwriteEmbedded,
  },
  {
    name: 'storage',
    what: 'what one decision adds to the disk and the write-ahead log of PostgreSQL, sealed and packed',
    yardsticks: [
      { name: '2.5 KB', ours: 'disk, 64 connections', aim: { ratio: 'cost', atMost: 1 } },
      { name: '2.5 KB', ours: 'disk, 64 connections, 50 organizations', aim: { ratio: 'cost', atMost: 1 } },
      { name: '2.5 KB', ours: 'disk, one at a time', aim: { ratio: 'cost', atMost: 1 } },
      { name: '3 KB', ours: 'log, 64 connections', aim: { ratio: 'cost', atMost: 1 } },
      { name: '3 KB', ours: 'log, 64 connections, 50 organizations' },
      { name: '3 KB', ours: 'log, one at a time' },
    ],
    run: runStorage,
  },
  {
    name: 'growth',
    what: 'p50 of underwriting on a large store, against the same on a small one',
    yardsticks: [
      { name: 'few transactions', ours: 'many transactions', aim: { ratio: 'cost', atMost: 1.2 } },
      { name: 'few decisions', ours: 'many decisions', aim: { ratio: 'cost', atMost: 1.2 } },
      { name: 'few links', ours: 'many links', aim: { ratio: 'cost', atMost: 1.2 } },
    ],
    run: runGrowth,
  },
  {
    name: 'lists',
    what: 'the first rows of the list of decisions by the slowest of 17 filters, on PostgreSQL with a million decisions',
    yardsticks: [{ name: '300 ms', ours: 'slowest list', aim: { ratio: 'cost', atMost: 1 } }],
    run: runLists,
  },
  {
    name: 'holders',
    what: 'one more entity with an identifier that many entities have, on PostgreSQL',
    yardsticks: [{ name: 'third holder', ours: '240th holder', aim: { ratio: 'cost', atMost: 2 } }],
    run: runHolders,
  },
  {
    name: 'ingest',
    what: 'transactions ingested over HTTP on PostgreSQL, batches of 1000',
    yardsticks: [{ name: 'COPY', aim: { ratio: 'speed', atLeast: 0.3 } }],
    run: runIngestPostgres,
  },
  {
    name: 'ingest, embedded',
    what: 'the same on the embedded database',
    yardsticks: [{ name: 'COPY', aim: { ratio: 'speed', atLeast: 0.3 } }],
    isLong: true,
    run: runIngestEmbedded,
  },
  {
    name: 'replay',
    what: 'deciding recorded decisions again, in bulk from PostgreSQL (policy backtest) and one by one over HTTP',
    yardsticks: [
      { name: '20,000 a second', aim: { ratio: 'speed', atLeast: 1 } },
      { name: 'decide alone', aim: { ratio: 'speed', atLeast: 0.5 } },
      { name: 'parse and decide' },
      { name: 'decide alone', ours: 'over HTTP' },
    ],
    run: runReplayPostgres,
  },
  {
    name: 'replay, embedded',
    what: 'deciding recorded decisions again, in bulk from the embedded database',
    yardsticks: [
      { name: '20,000 a second' },
      { name: 'decide alone', aim: { ratio: 'speed', atLeast: 0.5 } },
      { name: 'parse and decide' },
    ],
    isLong: true,
    run: runReplayEmbedded,
  },
  {
    name: 'memory',
    what: 'resident memory of the process under decisions',
    yardsticks: [{ name: 'postgres, after half', ours: 'postgres, after all', aim: { ratio: 'cost', atMost: 1.3 } }],
    run: runMemory,
  },
  {
    name: 'webhooks',
    what: 'deliveries to a receiver on this machine, leased, signed and recorded on PostgreSQL',
    yardsticks: [{ name: 'bare undici loop', aim: { ratio: 'speed', atLeast: 0.5 } }],
    run: (effort) => runWebhooks(effort, 'postgres'),
  },
  {
    name: 'webhooks, embedded',
    what: 'the same on the embedded database',
    yardsticks: [{ name: 'bare undici loop', aim: { ratio: 'speed', atLeast: 0.5 } }],
    isLong: true,
    run: (effort) => runWebhooks(effort, 'embedded'),
  },
]
