/**
 * How many declines of the sandbox policy a manipulated account turns into an approval, on the PKDD'99 ("Berka") accounts.
 *
 *     npm run study:gaming -- <folder with loans*.csv and transactions*.csv> [--today YYYY-MM-DD]
 *
 * Each declined loan is requested again with each manipulation of its account, and with a forgery that no check of
 * the feed itself can find. The data stays in its own folder and is never added to the project.
 */
import { parseArgs } from 'node:util'
import { sandboxPolicy } from '../server/tests/sandbox-policy.ts'
import { decideLoan, REQUESTED_ON, readLoans } from './berka-loans.ts'
import { CONSISTENT_FORGERY, MANIPULATIONS } from './manipulations.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { today: { type: 'string', default: REQUESTED_ON } },
})
const [folder] = positionals
if (folder === undefined) {
  console.error('usage: npm run study:gaming -- <folder with loans*.csv and transactions*.csv> [--today YYYY-MM-DD]')
  process.exit(2)
}
const now = `${values.today}T12:00:00.000Z`
const policy = sandboxPolicy()
const declined = readLoans(folder).filter((loan) => decideLoan(policy, loan, now).evaluation.verdict === 'decline')

console.log(`policy ${policy.document.version} ${policy.checksum.slice(0, 12)}, as of ${values.today}`)
const declinedBad = declined.filter(({ isBad }) => isBad).length
console.log(`${declined.length} declined loans, ${declinedBad} of them bad\n`)
console.log(`${'manipulation'.padEnd(22)}      approved        of them bad   reviewed`)
for (const { name, apply, what } of [...MANIPULATIONS, CONSISTENT_FORGERY]) {
  const again = declined.map((loan) => decideLoan(policy, { ...loan, transactions: apply(loan) }, now))
  const approved = again.filter(({ evaluation }) => evaluation.verdict.startsWith('approve'))
  const reviewed = again.filter(({ evaluation }) => evaluation.verdict === 'manual_review').length
  const bad = approved.filter(({ isBad }) => isBad).length
  const shares = [percent(approved.length / declined.length), percent(bad / declinedBad)]
  const figures = [
    `${approved.length} ${shares[0]}`.padStart(13),
    `${bad} ${shares[1]}`.padStart(18),
    `${reviewed}`.padStart(10),
  ]
  console.log(`${name.padEnd(22)} ${figures.join(' ')}   ${what}`)
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`.padStart(5)
}
