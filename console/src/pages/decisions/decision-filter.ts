import type { InputOf, OutputOf } from '../../api/operation-types.ts'
import { usePageSearch } from '../../components/use-search.ts'
import { startOfUtcDay } from '../../components/utc-day.ts'

/** A decision as the list shows it. */
export type ListedDecision = OutputOf<'decisions.list'>['decisions'][number]

/** Which decisions the list shows. */
export type DecisionFilter = Omit<InputOf<'decisions.list'>, 'cursor' | 'limit'>

/** The filters of the URL as the server takes them, which says if it cannot read one. Days are counted in UTC. */
export function useDecisionFilter(): DecisionFilter {
  const [{ from, to, sort: _, ...filter }] = usePageSearch('decisions')
  return {
    ...filter,
    ...(from && { from: startOfUtcDay(from, 0) }),
    ...(to && { before: startOfUtcDay(to, 1) }),
  }
}
