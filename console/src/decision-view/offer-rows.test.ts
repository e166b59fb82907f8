import assert from 'node:assert/strict'
import { it } from 'node:test'
import { explainDecision } from '../../../server/src/core/decide/explain-decision.ts'
import { factsFrom } from '../../../server/src/core/facts/facts-from.ts'
import { GOOD } from '../../../server/tests/arbitrary-facts.ts'
import { sandboxPolicy } from '../../../server/tests/sandbox-policy.ts'
import { writeMoney } from '../components/write-number.ts'
import { offerRows } from './offer-rows.ts'
import { writePoints } from './write-feature.ts'

it('a counter-offer shows each figure of the request beside that of the offer', () => {
  const facts = factsFrom({ ...GOOD, 'request.amount': 60_000 })
  const { counter_offer } = explainDecision(sandboxPolicy(), facts)
  assert.ok(counter_offer)
  const { asked, offered } = counter_offer
  const rows = offerRows({ features: [], requested: { amount: 60_000, currency: 'EUR' } }, counter_offer)
  const of = (name: string) => rows.find((row) => row.name === name)
  assert.deepEqual(of('Amount'), {
    name: 'Amount',
    asked: writeMoney(60_000, 'EUR'),
    offered: writeMoney(offered.amount, 'EUR'),
  })
  assert.deepEqual([of('Tier')?.asked, of('Tier')?.offered], [asked.tier, offered.tier])
  assert.deepEqual([of('Score')?.asked, of('Score')?.offered], [String(asked.score), String(offered.score)])
  assert.ok(offered.scorecard.length > 0)
  for (const [index, { label, points }] of offered.scorecard.entries()) {
    assert.ok(of(label)?.offered.endsWith(`(${writePoints(points)})`))
    assert.ok(of(label)?.asked.endsWith(`(${writePoints(asked.scorecard[index]!.points)})`))
  }
})
