/** Decisions about merged entities: what they are made from, what they say of it, and when they are made again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MergingTeam, startMergingService } from './merging-service.ts'
import { booked, type Movements, monthly } from './verified-applicant.ts'

const NOW = '2026-11-15T09:00:00.000Z'
const { newTeam, factsNow } = await startMergingService(NOW)

/** An entity with the movements of one account. */
async function holder(team: MergingTeam, statement: { movements: Movements; opening: number; account?: object }) {
  const id = await team.newEntity()
  await team.ingest(id, booked(statement.movements, { now: NOW, id: `${statement.opening}`, ...statement }))
  return id
}

test('an overdrawn account stays overdrawn if its holder is merged, whether accounts are named or not', async () => {
  for (const account of [undefined, { id: 'main' }]) {
    const team = await newTeam()
    const good = await holder(team, {
      movements: [...monthly(3, 'Acme GmbH', 2_900, 'salary'), ...monthly(17, 'Market', -900)],
      opening: 3_000,
      ...(account && { account }),
    })
    const bad = await holder(team, {
      movements: [...monthly(3, 'Other', 40), ...monthly(17, 'Shop', -45)],
      opening: -1_500,
      ...(account && { account }),
    })
    const figures = async (id: string) => {
      const { features } = await factsNow(team, id)
      return ['cashflow.overdrawn_days_365', 'cashflow.deepest_overdraft'].map(
        (name) => features[name]!.value as number,
      )
    }
    const alone = await figures(bad)
    assert.ok(alone.every((figure) => figure > 0))
    await team.merge(good, bad)
    assert.deepEqual(await figures(good), alone)
    const { features } = await factsNow(team, good)
    const reconciled = features['cashflow.balances_reconciled']!.value as number
    if (account) assert.ok(reconciled <= 0.5, 'what is said to be one account contradicts itself')
    else assert.equal(reconciled, 1, 'two accounts')
  }
})
