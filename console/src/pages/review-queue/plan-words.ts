import { writeCount, writeMoney, writeRate } from '../../components/write-number.ts'
import { type CasePlan, type RequestPlan, standingOf, type Total } from './case-answer.ts'
import type { ShownCase, WaitingRequest } from './review-case.ts'

/** The most verdicts that a button names one by one. */
const NAMED_MAX = 3

/** What the button says: every verdict with its amount as it was understood, then what it waits for. */
export function actOf({ requests, waitsFor, beyond }: CasePlan): string {
  const decided =
    requests.length === 1 ? upperFirst(deedOf(requests[0]!)) : `Decide ${requests.length} requests${deedsOf(requests)}`
  const act = beyond.length === 0 ? decided : `Sign first: ${lowerFirst(decided)}`
  return waitsFor ? `${act}: ${waitsFor}` : act
}

/** What is said once it is done. */
export function doneOf({ requests, beyond }: CasePlan, name: string): string {
  if (beyond.length > 0) return `Signed: ${name} waits for a second person.`
  const isDeclined = requests.every(({ verdict }) => verdict === 'decline')
  const [first] = requests
  if (requests.length > 1) return `Decided ${requests.length} requests of ${name}.`
  const limit = first?.limit === undefined ? '' : ` for ${writeMoney(first.limit, first.request.requested!.currency)}`
  return isDeclined ? `Declined ${name}.` : `Approved ${name}${limit}.`
}

function deedsOf(requests: readonly RequestPlan[]): string {
  const said = requests.filter(({ verdict }) => verdict)
  if (said.length === 0) return ''
  if (said.length <= NAMED_MAX) return `: ${said.map(deedOf).join(', ')}`
  const declined = said.filter(({ verdict }) => verdict === 'decline').length
  const counts = [said.length - declined && `approve ${said.length - declined}`, declined && `decline ${declined}`]
  return `: ${counts.filter(Boolean).join(', ')}`
}

/** `approve €13,500`, `approve €13,500 with conditions`, `decline €300`. */
function deedOf({ request, verdict, limit }: RequestPlan): string {
  if (!verdict) return 'decide'
  const currency = request.requested?.currency
  if (verdict === 'decline')
    return request.requested ? `decline ${writeMoney(request.requested.amount, currency!)}` : 'decline'
  const approve = limit === undefined || !currency ? 'approve' : `approve ${writeMoney(limit, currency)}`
  return verdict === 'approve_with_conditions' ? `${approve} with conditions` : approve
}

/** How a limit stands to what was asked: `all that was asked`, `€8,000 less than asked`. */
export function besideAsked(limit: number, { requested }: WaitingRequest): string {
  if (!requested) return ''
  const { amount, currency } = requested
  if (limit === amount) return 'all that was asked'
  const difference = writeMoney(Math.abs(limit - amount), currency)
  return `${difference} ${limit < amount ? 'less' : 'more'} than asked`
}

/** What the limits together are above of. */
export function totalWords({ currency, amount }: Total, { totals }: Pick<ShownCase, 'totals'>): string {
  const { could_lend } = totals.find((each) => each.currency === currency)!
  const [said, above] = [writeMoney(amount, currency), writeMoney(amount - could_lend, currency)]
  return `Together ${said}: ${above} above what the policy could lend this applicant.`
}

/** What a limit outside of the bounds is above or below of. */
export function unusualWords(limit: number, request: WaitingRequest): string {
  const { requested, could_lend, taken_since } = request
  if (!requested) return ''
  const { amount, currency } = requested
  const said = writeMoney(limit, currency)
  if (limit >= 2 * amount) return `${said} is ${timesWord(limit / amount)} the ${writeMoney(amount, currency)} asked.`
  if (limit > amount) return `${said} is ${writeMoney(limit - amount, currency)} above what was asked.`
  if (limit < amount && standingOf(request, limit) === 'low')
    return `${said} is ${shareWord(limit / amount)} of the ${writeMoney(amount, currency)} asked.`
  if (!could_lend) return ''
  return could_lend.amount > 0
    ? `${said} is ${writeMoney(limit - could_lend.amount, currency)} above what the policy could lend.`
    : `${said} is above what the policy could lend: ${taken_since > 0 ? 'what was offered or paid out since leaves' : 'its terms leave'} nothing.`
}

/** How small a part is: `a tenth`, or in percent. */
function shareWord(share: number): string {
  return share === 0.1 ? 'a tenth' : share < 0.001 ? `less than ${writeRate(0.001)}` : writeRate(share)
}

function timesWord(times: number): string {
  return Number.isInteger(times) ? `${writeCount(times)} times` : `more than ${writeCount(Math.floor(times))} times`
}

function lowerFirst(text: string): string {
  return text[0]!.toLowerCase() + text.slice(1)
}

function upperFirst(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1)
}
