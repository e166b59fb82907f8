/** How the run of a backtest ends: with its result, cancelled, or with an answer of the database that was lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginBacktest, cancelBacktest } from '../src/admin/backtest-policy.ts'
import type { Change } from '../src/store/write-path/change.ts'
import { CommitUnknown } from '../src/store/write-path/group-commit.ts'
import { byService } from './acts.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const { installation } = api.service
const store = installation.stores.sandbox
const database = installation.storage.environments.sandbox
const ACT = byService(acme.id)
const VERSION = 'sandbox-policy-v1'
const ALL = { last: 1_000 }

const { body: entity } = await acme.post('/v1/entities', { external_id: 'applicant' })
await acme.post(
  '/v1/underwrite',
  { entity_id: entity.id, product: 'marketplace_access' },
  { 'Idempotency-Key': 'decide' },
)

type ArgumentsOf<Method> = Method extends (...args: infer Args) => unknown ? Args : never

/** Answers the next call of a method of the store, or of one of its families, that fits by another function. */
function replaceNext<Family, Name extends keyof Family>(
  family: Family,
  name: Name,
  replacement: (run: () => Promise<unknown>) => Promise<unknown>,
  fits: (...args: ArgumentsOf<Family[Name]>) => boolean = () => true,
): void {
  const original = family[name] as (...args: ArgumentsOf<Family[Name]>) => Promise<unknown>
  const replaced = (...args: ArgumentsOf<Family[Name]>) => {
    const run = () => original.call(family, ...args)
    if (!fits(...args)) return run()
    family[name] = original as Family[Name]
    return replacement(run)
  }
  family[name] = replaced as Family[Name]
}

/** Holds the next call of such a method until it is released. */
function holdNext<Family, Name extends keyof Family>(
  family: Family,
  name: Name,
  fits?: (...args: ArgumentsOf<Family[Name]>) => boolean,
) {
  const [isCalled, isReleased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const hold = async (run: () => Promise<unknown>) => {
    isCalled.resolve()
    await isReleased.promise
    return run()
  }
  replaceNext(family, name, hold, fits)
  return { called: isCalled.promise, release: isReleased.resolve }
}

const endsBacktest = ({ endedBacktests = [] }: Change) => endedBacktests.length > 0

test('one backtest runs at a time, and a cancelled one keeps no result', async () => {
  const read = holdNext(store.backtests, 'countCases')
  const begun = await beginBacktest(installation, ACT, { version: VERSION, range: ALL })
  const second = beginBacktest(installation, ACT, { version: VERSION, range: ALL })
  await assert.rejects(second, { code: 'backtest_running' })
  assert.deepEqual(await cancelBacktest(installation, { ...ACT, reason: 'Wrong one.' }), { cancelled: true })
  read.release()
  await assert.rejects(begun.done, { code: 'backtest_cancelled' })
  assert.equal(await store.backtests.find(acme.id, begun.id), undefined)
  const run = await store.backtestRuns.newest(acme.id)
  assert.deepEqual([run?.is_running, run?.failure], [false, 'It was cancelled.'])
  await assert.rejects(cancelBacktest(installation, { ...ACT, reason: 'Again.' }), { code: 'backtest_ended' })
  const next = await beginBacktest(installation, ACT, { version: VERSION, range: ALL })
  assert.ok((await next.done).decided > 0)
})

test('a backtest that is cancelled while its result is being written keeps no result', async () => {
  const written = holdNext(store, 'commit', endsBacktest)
  const begun = await beginBacktest(installation, ACT, { version: VERSION, range: ALL })
  await written.called
  assert.deepEqual(await cancelBacktest(installation, { ...ACT, reason: 'Wrong one.' }), { cancelled: true })
  written.release()
  await assert.rejects(begun.done, { code: 'backtest_cancelled' })
  assert.equal(await store.backtests.find(acme.id, begun.id), undefined)
  const entries = await database.query<{ type: string }>('SELECT type FROM audit_entries WHERE trail_id = $1', [
    begun.id,
  ])
  assert.deepEqual(entries, [{ type: 'policy.backtest_cancelled' }])
})

test('a backtest that has ended cannot be cancelled, also if it ends during the request', async () => {
  const cancelled = holdNext(store.policies, 'list')
  const begun = await beginBacktest(installation, ACT, { version: VERSION, range: ALL })
  const cancellation = assert.rejects(cancelBacktest(installation, ACT), { code: 'backtest_ended' })
  await begun.done
  cancelled.release()
  await cancellation
  assert.ok(await store.backtests.find(acme.id, begun.id))
})

test('a result that was written is kept, though the answer of the database was lost', async () => {
  const loseAnswer = async (run: () => Promise<unknown>) => {
    await run()
    throw new CommitUnknown('the answer was lost')
  }
  replaceNext(store, 'commit', loseAnswer, endsBacktest)
  const begun = await beginBacktest(installation, ACT, { version: VERSION, range: ALL })
  const ended = await begun.done
  assert.ok(ended.decided > 0)
  assert.equal((await store.backtests.find(acme.id, begun.id))?.decided, ended.decided)
  const run = await store.backtestRuns.newest(acme.id)
  assert.deepEqual([run?.is_running, run?.failure], [false, null])
})

test('a result or a cancellation that the database did not write is not reported as written', async () => {
  const isNotWritten = async () => ({ lost: 'no_answer' })
  const read = holdNext(store.backtests, 'countCases')
  const begun = await beginBacktest(installation, ACT, { version: VERSION, range: ALL })
  replaceNext(store, 'commit', isNotWritten, endsBacktest)
  await assert.rejects(cancelBacktest(installation, ACT), { name: 'DatabaseUnavailable' })
  replaceNext(store, 'commit', isNotWritten, endsBacktest)
  read.release()
  await assert.rejects(begun.done, { code: 'backtest_failed' })
  const run = await store.backtestRuns.newest(acme.id)
  assert.equal(run?.is_running, false)
  assert.match(run?.failure ?? '', /did not come to its end/)
})

test('a backtest is cancelled with a reason or without one, and the audit log has what was given', async () => {
  const reasons = async () => {
    const sql = "SELECT data FROM audit_entries WHERE org_id = $1 AND type = 'policy.backtest_cancelled' ORDER BY id"
    const entries = await database.query<{ data: string }>(sql, [acme.id])
    return entries.map(({ data }) => JSON.parse(data).reason)
  }
  const before = (await reasons()).length
  for (const reason of ['Wrong period.', undefined]) {
    const read = holdNext(store.backtests, 'countCases')
    const begun = await beginBacktest(installation, ACT, { version: VERSION, range: ALL })
    assert.deepEqual(await cancelBacktest(installation, { ...ACT, reason }), { cancelled: true })
    read.release()
    await assert.rejects(begun.done, { code: 'backtest_cancelled' })
  }
  assert.deepEqual((await reasons()).slice(before), ['Wrong period.', undefined])
})
