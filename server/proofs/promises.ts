/** The 30 promises of Verdigraph, and the tests that prove each of them. */

/** The databases that the service runs on. */
export type DatabaseName = 'embedded' | 'postgres'

/** A test file, and which of its tests belong to the proof: those whose names start with one of the texts, or all. */
export interface Proof {
  file: string
  tests?: readonly string[]
  /** The one database that the tests are about, or none for tests of pure functions; by default they run on both. */
  on?: DatabaseName | 'none'
  /** Whether the proof measures what neighbours would change, such as latency: nothing else then runs beside it. */
  alone?: true
}

/** A promise to operators and integrators, with its proofs. */
export interface ProvedPromise {
  number: number
  promise: string
  proofs: readonly Proof[]
  /** Whether its proofs take longest: they begin first, so that nothing waits for them in the end. */
  takesLongest?: true
}

/** Every promise, by its number. `npm run prove` leaves the proofs that must run alone for the end. */
export const PROMISES: readonly ProvedPromise[] = [
  {
    number: 1,
    promise: 'one effect per idempotency key',
    proofs: [
      { file: 'server/tests/idempotency.test.ts', tests: ['a hundred simultaneous equal requests'] },
      { file: 'server/tests/decisions.test.ts', tests: ['a hundred equal requests with one key'] },
      {
        file: 'server/tests/late-retries.test.ts',
        tests: [
          'a late retry',
          'two nodes that use one key',
          'an answer that is purged',
          'of two nodes that use a purged',
        ],
      },
    ],
  },
  {
    number: 2,
    promise: 'a misused key writes nothing',
    proofs: [
      {
        file: 'server/tests/idempotency.test.ts',
        tests: ['a reused key with another body', 'a request that loses its key'],
      },
      {
        file: 'server/tests/late-retries.test.ts',
        tests: ['another body under the key', 'a retry for a decision that'],
      },
    ],
  },
  {
    number: 3,
    promise: 'acknowledged means durable',
    proofs: [
      {
        file: 'server/proofs/crash-recovery.proof.ts',
        tests: ['after kill -9 of the service', 'after kill -9 of PostgreSQL'],
      },
      { file: 'server/proofs/power-failure.proof.ts', on: 'embedded' },
      { file: 'server/proofs/lost-answers.proof.ts', on: 'postgres' },
      {
        file: 'server/proofs/standby-waits.proof.ts',
        tests: ['a commit whose wait for the standby', 'a signed head leaves no node'],
        on: 'postgres',
      },
    ],
  },
  {
    number: 4,
    promise: 'crash-safe at every step',
    proofs: [
      { file: 'server/proofs/crash-recovery.proof.ts', tests: ['a write that is cut off at any step'] },
      { file: 'server/proofs/start.proof.ts' },
    ],
  },
  {
    number: 5,
    promise: 'replay is exact',
    proofs: [
      { file: 'server/tests/golden-decisions.test.ts', on: 'none' },
      { file: 'server/tests/decisions.test.ts' },
      { file: 'server/tests/altered-decisions.test.ts' },
    ],
  },
  {
    number: 6,
    promise: 'an event is sent if and only if its change is committed',
    proofs: [
      {
        file: 'server/tests/webhooks-delivery.test.ts',
        tests: ['a change that is rolled back sends nothing', 'an event is sent at once'],
      },
      { file: 'server/tests/webhooks-events.test.ts' },
    ],
  },
  {
    number: 7,
    promise: 'no delivery is lost',
    proofs: [{ file: 'server/proofs/webhook-no-loss.proof.ts' }],
  },
  {
    number: 8,
    promise: 'the retry schedule is honoured',
    proofs: [
      { file: 'server/src/core/webhooks/schedule.test.ts', on: 'none' },
      {
        file: 'server/tests/webhooks-delivery.test.ts',
        tests: [
          'ten attempts',
          'Retry-After extends the delay',
          '410 disables',
          'five days without a success',
          'two failures a month apart',
        ],
      },
    ],
  },
  {
    number: 9,
    promise: 'signatures conform to Standard Webhooks',
    proofs: [{ file: 'server/src/core/webhooks/signature.test.ts', on: 'none' }],
  },
  {
    number: 10,
    promise: 'secrets rotate without downtime',
    proofs: [
      { file: 'server/tests/webhooks-admin.test.ts', tests: ['during a rotation every request verifies'] },
      { file: 'server/proofs/webhook-held.proof.ts' },
    ],
  },
  {
    number: 11,
    promise: 'no webhook reaches an internal address',
    proofs: [
      { file: 'server/src/core/webhooks/address-rules.test.ts', on: 'none' },
      { file: 'server/src/webhooks/safe-agent.test.ts', on: 'none' },
      { file: 'server/src/webhooks/endpoint-url.test.ts', on: 'none' },
    ],
  },
  {
    number: 12,
    promise: 'tenants and environments are walls',
    proofs: [{ file: 'server/tests/isolation.test.ts' }],
  },
  { number: 13, promise: 'scopes hold', proofs: [{ file: 'server/tests/api-keys.test.ts' }] },
  { number: 14, promise: 'the contract is true', proofs: [{ file: 'server/proofs/fuzz.proof.ts', alone: true }] },
  {
    number: 15,
    promise: 'resources are bounded',
    proofs: [
      { file: 'server/tests/http-protocol.test.ts', tests: ['a body over 1 MiB'] },
      {
        file: 'server/tests/hostile-input.test.ts',
        tests: ['JSON ten thousand levels deep', 'a body that is no object'],
      },
      { file: 'server/tests/rate-limit.test.ts' },
      { file: 'server/proofs/unread-answers.proof.ts' },
      { file: 'server/proofs/soak.proof.ts' },
      { file: 'server/proofs/pipelining.proof.ts', alone: true },
    ],
  },
  { number: 16, promise: 'secrets are unreadable at rest', proofs: [{ file: 'server/tests/secrets-at-rest.test.ts' }] },
  {
    number: 17,
    promise: 'tampering shows',
    proofs: [
      { file: 'server/tests/audit-verification.test.ts' },
      { file: 'server/tests/audit-sealing.test.ts' },
      { file: 'server/proofs/forged-power.proof.ts' },
      { file: 'server/src/core/audit/merkle-tree.test.ts', on: 'none' },
      { file: 'server/src/core/audit/merkle-proofs.test.ts', on: 'none' },
      { file: 'server/src/core/audit/verify-log.test.ts', on: 'none' },
    ],
  },
  {
    number: 18,
    promise: 'canonical JSON conforms to RFC 8785',
    proofs: [{ file: 'server/src/core/canonical-json.test.ts', on: 'none' }],
  },
  {
    number: 19,
    promise: 'a restored backup is whole',
    proofs: [
      { file: 'server/proofs/restore.proof.ts' },
      { file: 'server/proofs/point-in-time.proof.ts', on: 'postgres' },
    ],
  },
  {
    number: 20,
    promise: 'overload degrades politely',
    proofs: [
      { file: 'server/tests/overload.test.ts', alone: true },
      { file: 'server/proofs/overload.proof.ts', alone: true },
    ],
  },
  {
    number: 21,
    promise: 'several nodes are one service',
    proofs: [
      { file: 'server/proofs/any-order.proof.ts' },
      { file: 'server/tests/two-nodes.test.ts', on: 'postgres' },
      { file: 'server/src/store/conformance.test.ts' },
      { file: 'server/src/store/schema/migrate.test.ts' },
    ],
  },
  {
    number: 22,
    promise: 'a decision uses no fact recorded after it',
    proofs: [{ file: 'server/proofs/clock-skew.proof.ts', on: 'postgres' }, { file: 'server/tests/clocks.test.ts' }],
  },
  {
    number: 23,
    promise: 'no request of legal size stalls the others',
    proofs: [
      { file: 'server/proofs/stall.proof.ts', alone: true },
      { file: 'server/proofs/console-stall.proof.ts', alone: true },
      { file: 'server/proofs/fairness.proof.ts', alone: true },
      { file: 'server/proofs/audit-verify.proof.ts', alone: true },
    ],
  },
  {
    number: 24,
    promise: 'the embedded folder has one owner',
    proofs: [{ file: 'server/proofs/folder-owner.proof.ts', on: 'embedded' }],
  },
  {
    number: 25,
    promise: 'a first start is whole or repaired',
    takesLongest: true,
    proofs: [{ file: 'server/proofs/first-start.proof.ts' }],
  },
  {
    number: 26,
    promise: 'the service heals itself',
    proofs: [
      { file: 'server/proofs/database-faults.proof.ts', alone: true },
      { file: 'server/proofs/primary.proof.ts', on: 'postgres' },
    ],
  },
  {
    number: 27,
    promise: 'every record the log speaks of is compared',
    proofs: [{ file: 'server/proofs/tampering.proof.ts' }],
  },
  {
    number: 28,
    promise: 'nothing grows without a bound or a setting',
    proofs: [{ file: 'server/proofs/growth.proof.ts' }],
  },
  {
    number: 29,
    promise: 'a failover loses nothing that was acknowledged',
    proofs: [{ file: 'server/proofs/failover.proof.ts', on: 'postgres', alone: true }],
  },
  {
    number: 30,
    promise: 'after a crash in place, no answer rests on what no standby has',
    proofs: [
      {
        file: 'server/proofs/standby-waits.proof.ts',
        tests: [
          'after kill -9 of the server',
          'after kill -9 of one of its processes',
          'as long as no standby answers',
        ],
        on: 'postgres',
      },
    ],
  },
]
