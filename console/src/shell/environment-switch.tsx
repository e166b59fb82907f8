import { IconBolt, IconFlask } from '@tabler/icons-react'
import { useRouterState } from '@tanstack/react-router'
import type { Environment } from '../../../server/src/core/vocabularies.ts'
import { pathIn, useNextPlace, usePlace } from '../api/use-place.ts'
import { PathLink } from '../components/page-link.tsx'
import classes from './environment-switch.module.css'

const NAMES: Record<Environment, string> = { sandbox: 'Sandbox', production: 'Production' }

/** The name of an environment, as people read it. */
export function environmentName(environment: Environment): string {
  return NAMES[environment]
}

/** The icon of an environment: a flask for the sandbox, a bolt for production. */
export function EnvironmentIcon({ environment }: { environment: Environment }) {
  return environment === 'sandbox' ? <IconFlask size={14} stroke={1.75} /> : <IconBolt size={14} stroke={1.75} />
}

/** Switches between sandbox and production: two links, so that either opens in a new tab. */
export function EnvironmentSwitch() {
  const shown = usePlace()
  const next = useNextPlace()
  const page = useCurrentPage()
  return (
    <nav className={classes.switch} aria-label="Environment">
      {(['sandbox', 'production'] as const).map((environment) => {
        const isOn = environment === shown.environment
        return (
          <PathLink
            key={environment}
            path={pathIn({ ...next, environment }, page)}
            className={classes.option}
            data-on={isOn || undefined}
            data-environment={environment}
            aria-current={isOn ? 'true' : undefined}
          >
            {isOn && <EnvironmentIcon environment={environment} />}
            {NAMES[environment]}
          </PathLink>
        )
      })}
    </nav>
  )
}

/** The environment as a badge, for the header of phones and for dialogs. */
export function EnvironmentBadge({ environment }: { environment: Environment }) {
  return (
    <span className={classes.badge} data-environment={environment}>
      <EnvironmentIcon environment={environment} />
      {NAMES[environment]}
    </span>
  )
}

/** The page that stays open when the environment changes: objects belong to one environment, so only the list stays. */
export function useCurrentPage(): string {
  const path = useRouterState({ select: (state) => state.location.pathname })
  return path.split('/')[3] ?? 'overview'
}
