import { writeCount, writeMoney } from '../../components/write-number.ts'
import type { CasePlan, RequestPlan } from './case-answer.ts'
import type { WaitingRequest } from './review-case.ts'

/** The most verdicts that a button names one by one. */
const NAMED_MAX = 3

/** What the button says: every verdict with its amount as it was understood, then what it waits for. */
export function actOf({ requests, waitsFor }: CasePlan): string {
  const act =
    requests.length === 1 ? upperFirst(deedOf(requests[0]!)) : `Decide ${requests.length} requests${deedsOf(requests)}`
  return waitsFor ? `${act}: ${waitsFor}` : act
}

/** What is said once it is done. */
export function doneOf({ requests }: CasePlan, name: string): string {
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

/** What a limit above the bounds is above of. */
export function aboveWords(limit: number, { requested, could_lend }: WaitingRequest): string {
  if (!requested) return ''
  const { amount, currency } = requested
  const said = writeMoney(limit, currency)
  if (limit >= 2 * amount) return `${said} is ${timesWord(limit / amount)} the ${writeMoney(amount, currency)} asked.`
  if (limit > amount) return `${said} is ${writeMoney(limit - amount, currency)} above what was asked.`
  if (!could_lend) return ''
  return could_lend.amount > 0
    ? `${said} is ${writeMoney(limit - could_lend.amount, currency)} above what the policy could lend.`
    : `${said} is above what the policy could lend: its terms leave nothing.`
}

function timesWord(times: number): string {
  return Number.isInteger(times) ? `${writeCount(times)} times` : `more than ${writeCount(Math.floor(times))} times`
}

function upperFirst(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1)
}
