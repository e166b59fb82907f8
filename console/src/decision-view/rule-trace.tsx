import { IconAlertTriangle, IconCircleCheckFilled, IconCircleDashed, IconHelpCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { percentScale } from '../components/charts/layout/percent-scale.ts'
import { StateBadge, type Tone } from '../components/state-badge.tsx'
import { FoldSection } from './fold-section.tsx'
import classes from './rule-trace.module.css'
import type { ShownRule, ViewData } from './view-data.ts'
import { featureWriter, writePoints } from './write-feature.ts'

type Write = ReturnType<typeof featureWriter>

const ACTIONS: Readonly<Record<string, { word: string; tone: Tone }>> = {
  decline: { word: 'decline', tone: 'bad' },
  manual_review: { word: 'review', tone: 'warn' },
  condition: { word: 'condition', tone: 'info' },
  none: { word: 'nothing', tone: 'neutral' },
}

/** Every rule with the values that it looked at: those that held, near misses closest first, open ones, and the others. */
export function RuleTrace({ view }: { view: ViewData }) {
  const { rules } = view
  const write = featureWriter(view)
  const held = rules.filter(({ holds }) => holds === true)
  const open = rules.filter(({ holds }) => holds === null)
  const near = rules.filter(({ near: threshold }) => threshold !== null).sort((a, b) => closeness(a) - closeness(b))
  const others = rules.filter((rule) => rule.holds === false && rule.near === null)
  return (
    <FoldSection
      title="Rule trace"
      sub={`${rules.length} asked, ${held.length} held, ${near.length} near ${near.length === 1 ? 'miss' : 'misses'}`}
      flush
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard */}
      <section className={classes.scroll} aria-label="Rules" tabIndex={0}>
        <table className={classes.table}>
          <caption className="visually-hidden">Rules with the values that they looked at</caption>
          <Head />
          <Group
            title="Held"
            rules={held}
            write={write}
            icon={<IconCircleCheckFilled size={16} className="text-conditions" />}
          />
          <Group
            title="Near misses"
            rules={near}
            write={write}
            icon={<IconAlertTriangle size={16} className="text-review" />}
          />
          <Group
            title="Left open, because a value is missing"
            rules={open}
            write={write}
            icon={<IconHelpCircle size={16} className="dim" />}
          />
        </table>
        {others.length > 0 && (
          <details className={classes.others}>
            <summary>
              <b>{others.length} others did not hold</b>{' '}
              <span className="mono dim">{others.map(({ rule }) => rule).join(', ')}</span>
            </summary>
            <table className={classes.table}>
              <caption className="visually-hidden">Rules that did not hold</caption>
              <Head isHidden />
              <Group rules={others} write={write} icon={<IconCircleDashed size={16} className="dim" />} />
            </table>
          </details>
        )}
      </section>
    </FoldSection>
  )
}

function Head({ isHidden = false }: { isHidden?: boolean }) {
  return (
    <thead className={isHidden ? 'visually-hidden' : undefined}>
      <tr>
        <th scope="col">Rule</th>
        <th scope="col">Condition</th>
        <th scope="col">Actual</th>
        <th scope="col">Distance</th>
        <th scope="col">Action</th>
      </tr>
    </thead>
  )
}

function closeness({ near }: ShownRule): number {
  return near ? near.distance / Math.abs(near.threshold) : 1
}

function Group({
  title,
  rules,
  write,
  icon,
}: {
  title?: string
  rules: readonly ShownRule[]
  write: Write
  icon: ReactNode
}) {
  if (rules.length === 0) return null
  return (
    <tbody>
      {title && (
        <tr className={classes.group}>
          <th scope="rowgroup" colSpan={5}>
            {title}
          </th>
        </tr>
      )}
      {rules.map((rule) => (
        <tr key={rule.rule}>
          <td>
            <span className={classes.name}>
              {icon}
              <span>
                <code className="strong">{rule.rule}</code>
                {rule.row && <span className="dim"> row {rule.row.replaceAll('_', ' ')}</span>}
                <span className={classes.label}>{rule.label}</span>
              </span>
            </span>
          </td>
          <td>
            <code className={classes.condition}>{rule.when}</code>
          </td>
          <td>
            <Values rule={rule} write={write} />
          </td>
          <td>
            <Distance rule={rule} write={write} />
          </td>
          <td>
            <StateBadge tone={ACTIONS[rule.action]?.tone ?? 'neutral'}>
              {ACTIONS[rule.action]?.word ?? rule.action.replaceAll('_', ' ')}
            </StateBadge>
          </td>
        </tr>
      ))}
    </tbody>
  )
}

function Values({ rule, write }: { rule: ShownRule; write: Write }) {
  return (
    <ul className={classes.values}>
      {rule.values.map(({ feature, value, missing }) => (
        <li key={feature} title={feature}>
          {rule.values.length > 1 && <code className="dim">{feature.slice(feature.indexOf('.') + 1)} </code>}
          <b>{missing ? `missing: ${missing}` : write(feature, value)}</b>
        </li>
      ))}
    </ul>
  )
}

function Distance({ rule, write }: { rule: ShownRule; write: Write }) {
  const { holds, near, missing, points } = rule
  if (holds === true) return points ? `held, ${writePoints(points)} points` : 'held'
  if (holds === null) return <span className="dim">needs {missing?.join(', ')}</span>
  if (!near) return <span className="dim">–</span>
  return (
    <span className={classes.near}>
      <i aria-hidden="true">
        <i
          style={{
            width: `max(4%, ${percentScale(0, Math.abs(near.threshold))(Math.abs(near.threshold) - near.distance)}%)`,
          }}
        />
      </i>
      {write(near.feature, near.distance)} short
    </span>
  )
}
