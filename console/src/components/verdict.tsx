import { IconBan, IconCircleCheck, IconListCheck, IconUserSearch } from '@tabler/icons-react'
import { VERDICTS, type Verdict as VerdictName } from '../../../server/src/core/vocabularies.ts'
import type { Series } from './charts/chart-frame.tsx'

interface Look {
  word: string
  whole: string
  icon: typeof IconBan
  text: string
  mark: string
}

const LOOKS: Readonly<Record<VerdictName, Look>> = {
  approve: { word: 'Approve', whole: 'Approve', icon: IconCircleCheck, text: 'text-ok', mark: 'var(--ok-c)' },
  approve_with_conditions: {
    word: 'Conditions',
    whole: 'Approve with conditions',
    icon: IconListCheck,
    text: 'text-conditions',
    mark: 'var(--cond-c)',
  },
  manual_review: {
    word: 'Review',
    whole: 'Manual review',
    icon: IconUserSearch,
    text: 'text-review',
    mark: 'var(--rev-c)',
  },
  decline: { word: 'Decline', whole: 'Decline', icon: IconBan, text: 'text-decline', mark: 'var(--no-c)' },
}

/** A verdict in its colour, always with icon and word; `whole` writes it out. */
export function Verdict({ verdict, whole = false }: { verdict: VerdictName; whole?: boolean }) {
  const { word, whole: inFull, icon: Icon, text } = LOOKS[verdict]
  return (
    <span
      className={`${text} nowrap`}
      // Aligned by its bottom: on the baseline, the icon lifts the word above the text beside it.
      style={{ display: 'inline-flex', gap: 6, alignItems: 'center', verticalAlign: 'bottom', fontWeight: 500 }}
    >
      <Icon size={16} stroke={1.75} aria-hidden="true" />
      {whole ? inFull : word}
    </span>
  )
}

/** The verdicts as the options of a filter. */
export const VERDICT_OPTIONS = VERDICTS.map((value) => ({ value, label: LOOKS[value].whole }))

/** The verdicts as the series of a chart, from the bottom up. */
export const VERDICT_SERIES: readonly Series[] = VERDICTS.map((key) => ({
  key,
  name: LOOKS[key].word,
  color: LOOKS[key].mark,
  hatched: key === 'decline',
}))
