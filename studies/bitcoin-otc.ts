/**
 * How well the trust score tells the next bad rating from a good one, on the Bitcoin-OTC web of trust (SNAP; Kumar et al.,
 * "Edge weight prediction in weighted signed networks", ICDM 2016).
 *
 *     npm run study:bitcoin-otc -- <folder with soc-sign-bitcoinotc.csv>
 *
 * The ratings are taken in the order of their time. Before each is added, the functions behind the API compute the trust of
 * the member who is rated, from the earlier ratings alone; then the rating shows whether that was right. A rating is an
 * outcome of the rated member (`repaid`, or `default` below zero). It links the two members as verified business partners,
 * unless either has rated the other below zero, which fails the link. The intervals draw members, not ratings, because the
 * ratings of one member depend on each other. The data stays in its own folder and is never added to the project.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { areaUnderCurve, bootstrapInterval, type Ranked } from './discrimination.ts'
import { type Rating, type TrustAt, WebOfTrust } from './web-of-trust.ts'

/** The exposure from which the sandbox policy asks a person. */
const FLAGGED_FROM = 0.2

interface Rated extends TrustAt {
  member: string
  isBad: boolean
}

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: npm run study:bitcoin-otc -- <folder with soc-sign-bitcoinotc.csv>')
  process.exit(2)
}
const rated = rateInOrder(readRatings(folder))
const bad = rated.filter(({ isBad }) => isBad).length
console.log(`${rated.length} ratings, ${bad} bad (${percent(bad / rated.length)})\n`)
console.log('predicts the next rating             AUC     95 %')
reportArea('trust.score', ({ trust }) => trust.score)
reportArea('own history alone', ({ ownTrust }) => ownTrust.score)
reportArea('neighbours alone', ({ neighbourTrust }) => neighbourTrust.score)
reportArea('negative exposure by neighbours alone', ({ neighbourTrust }) => -neighbourTrust.negative_exposure)
reportFlags()

function rateInOrder(ratings: readonly Rating[]): Rated[] {
  const web = new WebOfTrust()
  return ratings.map((rating) => {
    const seen = web.trustOf(rating.to, rating.at)
    web.add(rating)
    return { ...seen, member: rating.to, isBad: rating.rating < 0 }
  })
}

function reportArea(name: string, scoreOf: (one: Rated) => number): void {
  const cases = rated.map((one) => ({ member: one.member, isBad: one.isBad, score: scoreOf(one) }))
  const byMember = [...Map.groupBy(cases, ({ member }) => member).values()]
  const { from, to } = bootstrapInterval(byMember, (members) => areaUnderCurve(members.flat() as Ranked[]))
  console.log(`${name.padEnd(36)} ${areaUnderCurve(cases).toFixed(3)}   ${from.toFixed(3)} to ${to.toFixed(3)}`)
}

/** How many members the policy would send to a person because of their neighbours, at the moment of each rating. */
function reportFlags(): void {
  const flagged = (isBad: boolean) => {
    const some = rated.filter((one) => one.isBad === isBad)
    return some.filter(({ neighbourTrust }) => neighbourTrust.negative_exposure >= FLAGGED_FROM).length / some.length
  }
  console.log(`\nnegative exposure by neighbours of ${FLAGGED_FROM} or more:`)
  console.log(`${percent(flagged(false))} of the good ratings, ${percent(flagged(true))} of the bad ones`)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function readRatings(folder: string): Rating[] {
  const name = readdirSync(folder).find((file) => file.endsWith('.csv'))
  if (name === undefined) throw new Error(`there is no .csv in ${folder}`)
  const rows = readFileSync(join(folder, name), 'utf8').trim().split(/\r?\n/)
  return rows
    .map((row) => row.split(','))
    .map(([from = '', to = '', rating, seconds]) => ({ from, to, rating: Number(rating), ms: Number(seconds) * 1000 }))
    .toSorted((a, b) => a.ms - b.ms)
    .map(({ ms, ...rating }) => ({ ...rating, at: new Date(ms).toISOString() }))
}
