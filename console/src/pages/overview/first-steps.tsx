import { Button } from '@mantine/core'
import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useOperation } from '../../api/use-operation.ts'
import { usePlace } from '../../api/use-place.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { PageLink } from '../../components/page-link.tsx'
import type { PageTarget } from '../../components/page-search.ts'
import { Section } from '../../components/section.tsx'
import classes from './overview-page.module.css'

type Steps = OutputOf<'overview.show-first-steps'>

interface Step {
  isDone: boolean
  title: string
  /** Why, and what to do next. */
  next: ReactNode
}

/** The first steps while one of them is open; undefined while they load, and once all are taken. */
export function useFirstSteps(): Steps | undefined {
  const { environment } = usePlace()
  const { data } = useOperation('overview.show-first-steps', {}, { refetchIntervalMs: 15_000 })
  return data && listOf(data, environment).some(({ isDone }) => !isDone) ? data : undefined
}

/** The checklist of a new organization: each step with its next action. */
export function FirstSteps({ steps }: { steps: Steps }) {
  const { environment } = usePlace()
  const list = listOf(steps, environment)
  const done = list.filter(({ isDone }) => isDone).length
  const nextIndex = list.findIndex(({ isDone }) => !isDone)
  return (
    <Section title="First steps" flush end={<span className="dim small">{`${done} of ${list.length}`}</span>}>
      <div className={classes.progress}>
        <div style={{ width: `${(done / list.length) * 100}%` }} />
      </div>
      <ol className={classes.steps}>
        {list.map((step, index) => (
          <li key={step.title} data-state={step.isDone ? 'done' : index === nextIndex ? 'next' : 'open'}>
            {step.isDone ? (
              <IconCircleCheckFilled size={18} aria-label="Done" />
            ) : (
              <IconCircleDashed size={18} stroke={1.75} aria-label="Open" />
            )}
            {index === nextIndex ? (
              <div className={classes.step}>
                <span className="strong">{step.title}</span>
                {step.next}
              </div>
            ) : (
              <span>{step.title}</span>
            )}
          </li>
        ))}
      </ol>
    </Section>
  )
}

function listOf(steps: Steps, environment: 'sandbox' | 'production'): Step[] {
  return [
    {
      isDone: steps.key_used,
      title: `First call with a ${environment} key`,
      next: (
        <>
          <span>
            {environment === 'sandbox'
              ? 'The first start printed a sandbox key. Use it, or create another.'
              : 'Create a key for production and call the API with it.'}
          </span>
          <StepLink to="api-keys" search={{ create: '1' }}>
            Create a key
          </StepLink>
        </>
      ),
    },
    {
      isDone: steps.entity_created,
      title: 'First entity',
      next: (
        <>
          <span>A person or a business to decide about.</span>
          <CodeBlock code={createEntity(steps.base_url)} />
        </>
      ),
    },
    {
      isDone: steps.decided,
      title: 'First decision',
      next: (
        <>
          <span>With the id of the entity. The answer says the verdict and its reasons.</span>
          <CodeBlock code={underwrite(steps.base_url)} />
        </>
      ),
    },
    {
      isDone: steps.endpoint_answered,
      title: 'A webhook endpoint that answers',
      next: steps.endpoint_added ? (
        <>
          <span>No event has been delivered yet. Send a test event to see that your endpoint answers.</span>
          <StepLink to="webhooks">Send a test event</StepLink>
        </>
      ) : (
        <>
          <span>Learn about decisions and changed verdicts without asking.</span>
          <StepLink to="webhooks" search={{ create: '1' }}>
            Add an endpoint
          </StepLink>
        </>
      ),
    },
    {
      isDone: steps.teammate_added,
      title: 'Invite a teammate',
      next: (
        <>
          <span>A policy needs an approver who did not write it, and the live gate needs two.</span>
          <StepLink to="team" search={{ invite: '1' }}>
            Invite by link
          </StepLink>
        </>
      ),
    },
  ]
}

function StepLink(props: PageTarget & { children: ReactNode }) {
  return <Button component={PageLink} size="xs" {...props} />
}

function createEntity(baseUrl: string): string {
  return `curl -s ${baseUrl}/v1/entities \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"external_id": "applicant-1", "type": "person", "display_name": "Ada Prime", "country": "DE"}'`
}

function underwrite(baseUrl: string): string {
  return `curl -s ${baseUrl}/v1/underwrite \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -H "Idempotency-Key: application-1" \\
  -d '{"entity_id": "ent_…", "product": "personal_loan", "requested_amount": 6000, "currency": "EUR"}'`
}
