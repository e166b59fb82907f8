import { IconCheck, IconCircleDashed, IconCircleFilled, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ImpactMark } from '../components/impact-mark.tsx'
import { Section } from '../components/section.tsx'
import classes from './decision-view.module.css'
import { FoldSection } from './fold-section.tsx'
import { type StepState, settledSentence, stepsOf } from './settled-by.ts'
import type { ViewData } from './view-data.ts'

/** The sign of each state; a step that was not reached is an empty circle. */
const SIGNS: Readonly<Record<StepState, ReactNode>> = {
  passed: <IconCheck size={12} stroke={2.5} />,
  failed: <IconX size={12} stroke={2.5} />,
  settled: <IconCircleFilled size={10} />,
  'not reached': null,
}

const WORDS: Readonly<Record<StepState, string>> = {
  passed: 'passed',
  failed: 'failed, but did not settle it',
  settled: 'settled here',
  'not reached': 'not reached',
}

/** What settled the verdict: a sentence, and the steps of the engine in their order. */
export function SettledSteps({ view }: { view: ViewData }) {
  const steps = stepsOf(view)
  return (
    <Section title="What settled it" flush>
      <p className={classes.sentence}>{settledSentence(view)}</p>
      {steps.length > 0 && (
        <ol className={classes.steps}>
          {steps.map(({ name, says, state }) => (
            <li key={name} data-state={state} data-verdict={view.verdict ?? undefined}>
              <span className={classes.dot} aria-hidden="true">
                {SIGNS[state]}
              </span>
              <b>{name}</b>
              <span className={state === 'settled' ? classes.here : 'visually-hidden'}>{WORDS[state]}</span>
              {state !== 'not reached' && <span className={classes.says}>{says}</span>}
            </li>
          ))}
        </ol>
      )}
    </Section>
  )
}

/** The conditions and reasons, as the applicant is told them. */
export function ReasonList({ view }: { view: ViewData }) {
  const { conditions, reasons } = view
  return (
    <>
      {conditions.length > 0 && (
        <FoldSection title="Conditions" isOpenOnPhone>
          <ul className={classes.reasons}>
            {conditions.map(({ code, label }) => (
              <li key={code}>
                <IconCircleDashed size={16} className="text-conditions" aria-hidden="true" />
                <span>
                  {label}
                  <code>{code}</code>
                </span>
              </li>
            ))}
          </ul>
        </FoldSection>
      )}
      <FoldSection title="Reasons" sub="as told to the applicant" isOpenOnPhone>
        {reasons.length === 0 ? (
          <p className="dim">No reason was given.</p>
        ) : (
          <ul className={classes.reasons}>
            {reasons.map(({ code, label, impact }) => (
              <li key={`${code} ${label}`}>
                <ImpactMark impact={impact} />
                <span>
                  {label}
                  <code>{code}</code>
                </span>
              </li>
            ))}
          </ul>
        )}
      </FoldSection>
    </>
  )
}
