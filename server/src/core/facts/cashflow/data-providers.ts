import type { SourceKind } from '../../vocabularies.ts'
import { type Fact, known, missing } from '../facts.ts'
import { shareAtLeast } from '../units.ts'
import type { DayBucket } from './day-bucket.ts'

/** The sources that an applicant has no hand in. What `other` is, is not known. */
const INDEPENDENT: ReadonlySet<SourceKind> = new Set(['bank', 'aggregator', 'own_records', 'credit_bureau'])

/** Counts who provided a transaction. */
export function addProvider(bucket: DayBucket, providedBy: SourceKind | undefined): void {
  if (providedBy === 'applicant') bucket.fromApplicant += 1
  else if (providedBy !== undefined && INDEPENDENT.has(providedBy)) bucket.fromOthers += 1
}

/** How many transactions of an account there are, and who provided them. */
export interface ProvidedCounts {
  transactions: number
  fromApplicant: number
  fromOthers: number
}

/** Who provided the transactions of some accounts; missing if that was said of none of them. */
export function providerFacts(
  accounts: readonly { provided: ProvidedCounts }[],
  age: number,
): Record<'applicantShare' | 'independentShare', Fact> {
  let [transactions, fromApplicant, fromOthers] = [0, 0, 0]
  for (const { provided } of accounts) {
    transactions += provided.transactions
    fromApplicant += provided.fromApplicant
    fromOthers += provided.fromOthers
  }
  if (fromApplicant + fromOthers === 0) return { applicantShare: UNSAID, independentShare: UNSAID }
  return {
    applicantShare: known(shareAtLeast(fromApplicant, transactions), age),
    independentShare: known(shareAtLeast(fromOthers, transactions), age),
  }
}

const UNSAID = missing('no_data')
