import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import classes from './policies.module.css'
import type { ShownPolicy } from './policy.ts'

/** The tests that a policy carries, with their results. */
export function OwnTests({
  tests,
  coverage,
}: {
  tests: readonly { name: string; failures: readonly string[] }[]
  coverage: ShownPolicy['coverage']
}) {
  const failed = tests.filter(({ failures }) => failures.length > 0)
  return (
    <Section
      title="Its own tests"
      end={
        <StateBadge tone={failed.length > 0 || tests.length === 0 ? 'bad' : 'ok'}>
          {tests.length - failed.length} of {tests.length} pass
        </StateBadge>
      }
    >
      {tests.length === 0 && (
        <p className="secondary">It has none that could run. A policy without tests cannot be proposed.</p>
      )}
      {coverage && coverage.uncovered.length > 0 && (
        <details className="small">
          <summary>
            They reach {coverage.parts - coverage.uncovered.length} of {coverage.parts} rules, rows and segments
          </summary>
          <p className="dim">
            None reaches {coverage.uncovered.map(({ kind, name }) => `${kind} ${name}`).join(', ')}.
          </p>
        </details>
      )}
      <ul className={classes.tests}>
        {[...failed, ...tests.filter(({ failures }) => failures.length === 0)].map(({ name, failures }) => (
          <li key={name}>
            {failures.length === 0 ? (
              <IconCircleCheck size={16} stroke={1.75} className="text-ok" aria-label="passes" />
            ) : (
              <IconCircleX size={16} stroke={1.75} className="text-decline" aria-label="fails" />
            )}
            <span>
              {name}
              {failures.map((failure) => (
                <span key={failure} className={`${classes.failure} small text-decline`}>
                  {failure}
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
