import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalDraws, seededDraws } from '../../../tests/seeded-draws.ts'
import { centreOf, expectedShare, fitRisk, type RiskGroup } from './portfolio-risk.ts'

const logistic = (x: number) => 1 / (1 + Math.exp(-x))

/** Applicants whose probabilities under the policy fall from .4 to .01, approved below .15; the true log-odds are a line over them. */
function portfolio(draw: () => number, { offset, slope }: { offset: number; slope: number }, applicants: number) {
  const known: RiskGroup[] = []
  const added: RiskGroup[] = []
  for (let applicant = 0; applicant < applicants; applicant++) {
    const logOdds = -4.6 + draw() * 4.2
    const truth = logistic(-2.5 + offset + slope * (logOdds + 2.5))
    const group = { cases: 1, expectedPpm: Math.round(logistic(logOdds) * 1e6), bad: Number(draw() < truth) }
    const isApproved = logistic(logOdds) < 0.15
    ;(isApproved ? known : added).push(group)
  }
  return { known, added }
}

test('the interval of the newly approved holds the rate that they will show in 95 of 100 portfolios', () => {
  const draw = seededDraws(4_711)
  const normal = normalDraws(draw)
  const PORTFOLIOS = 400
  let [held, heldByTable] = [0, 0]
  for (let number = 0; number < PORTFOLIOS; number++) {
    const applicants = [40, 200, 1_000][number % 3]!
    const { known, added } = portfolio(draw, { offset: 0.7 * normal(), slope: 1 + 0.35 * normal() }, applicants)
    const truth = added.reduce((sum, { bad }) => sum + bad, 0) / added.length
    const risk = fitRisk(known, { independent: known.length, centre: centreOf(known) })
    const hidden = added.map((group) => ({ ...group, bad: 0 }))
    const { low, high } = expectedShare(risk, hidden, added.length)!.estimate
    held += Number(low <= truth && truth <= high)
    // The same without what outcomes say, and without doubt.
    const believed = { centre: 0, offset: 0, slope: 1, covariance: [0, 0, 0] as const }
    const table = expectedShare(believed, hidden, added.length)!.estimate
    heldByTable += Number(table.low <= truth && truth <= table.high)
  }
  assert.ok(held >= 0.93 * PORTFOLIOS, `${held} of ${PORTFOLIOS}`)
  assert.ok(heldByTable < 0.7 * PORTFOLIOS, 'the policy alone is too sure, or the portfolios show nothing')
})

test('many outcomes replace what the policy says, and none leave it with a wide interval', () => {
  const draw = seededDraws(7)
  const { known, added } = portfolio(draw, { offset: 1, slope: 1.4 }, 60_000)
  const risk = fitRisk(known, { independent: known.length, centre: centreOf(known) })
  const truth = added.reduce((sum, { bad }) => sum + bad, 0) / added.length
  const fitted = expectedShare(risk, added, added.length)!.estimate
  assert.ok(Math.abs(fitted.share - truth) < 0.02 && fitted.high - fitted.low < 0.05, JSON.stringify({ fitted, truth }))
  const none = fitRisk([], { independent: 0, centre: centreOf(added) })
  const expected = expectedShare(none, added, added.length)!.estimate
  const byTable = added.reduce((sum, { expectedPpm }) => sum + expectedPpm, 0) / 1e6 / added.length
  assert.ok(Math.abs(expected.share - byTable) < 1e-9 && expected.high - expected.low > 0.3)
})

test('outcomes of few entities weigh less than those of many', () => {
  const { known, added } = portfolio(seededDraws(3), { offset: 0.5, slope: 1 }, 400)
  const width = (independent: number) => {
    const { low, high } = expectedShare(fitRisk(known, { independent, centre: centreOf(known) }), added, 1e9)!.estimate
    return high - low
  }
  assert.ok(width(known.length / 10) > 1.5 * width(known.length))
})

test('extreme probabilities and outcomes give a finite fit', () => {
  for (const bad of [0, 1])
    for (const expectedPpm of [0, 1, 999_999, 1_000_000]) {
      const groups = Array.from({ length: 50 }, () => ({ cases: 20, expectedPpm: 20 * expectedPpm, bad: 20 * bad }))
      const risk = fitRisk(groups, { independent: 1_000, centre: centreOf(groups) })
      const { share, low, high } = expectedShare(risk, groups, 1_000)!.estimate
      assert.ok(
        low >= 0 && low <= share && share <= high && high <= 1,
        JSON.stringify({ bad, expectedPpm, share, low, high }),
      )
    }
})
