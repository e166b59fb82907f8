import { useParams, useRouterState } from '@tanstack/react-router'
import { useMemo } from 'react'
import { ENVIRONMENTS, type Environment } from '../../../server/src/core/vocabularies.ts'
import type { Place } from './call.ts'

/** The organization and environment of the page that is shown. Only pages below `/<organization>/<environment>` may ask for it. */
export function usePlace(): Place {
  const { organizationId, environment } = useParams({ strict: false }) as Partial<Record<string, string>>
  if (!organizationId || !environment) throw new Error('This page has no organization in its URL.')
  return useMemo(() => ({ organizationId, environment: environment as Environment }), [organizationId, environment])
}

/**
 * The place that the address names. A navigation changes it at once, and `usePlace` only after the page has loaded.
 * The navigation and the commands of the shell start from it, so that a command right after a switch of the environment
 * follows it.
 */
export function useNextPlace(): Place {
  const shown = usePlace()
  const path = useRouterState({ select: (state) => state.location.pathname })
  return useMemo(() => {
    const [, organizationId, environment] = path.split('/')
    const isShown = organizationId === shown.organizationId && environment === shown.environment
    if (isShown || !organizationId || !ENVIRONMENTS.includes(environment as Environment)) return shown
    return { organizationId, environment: environment as Environment }
  }, [path, shown])
}

/** Whether a page of another place is loading. */
export function useIsArriving(): boolean {
  const [shown, next] = [usePlace(), useNextPlace()]
  return shown.organizationId !== next.organizationId || shown.environment !== next.environment
}

/** The path of a page within a place, such as `/org_1/sandbox/webhooks`. */
export function pathIn({ organizationId, environment }: Place, page: string): string {
  return `/${organizationId}/${environment}/${page}`
}
