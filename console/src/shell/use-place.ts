import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Environment, Place } from '../api/call.ts'

/** The organization and environment of the URL. Only pages below `/<organization>/<environment>` may ask for it. */
export function usePlace(): Place {
  const { organizationId, environment } = useParams({ strict: false }) as Partial<Record<string, string>>
  if (!organizationId || !environment) throw new Error('This page has no organization in its URL.')
  return useMemo(() => ({ organizationId, environment: environment as Environment }), [organizationId, environment])
}

/** The path of a page within a place, such as `/org_1/sandbox/webhooks`. */
export function pathIn({ organizationId, environment }: Place, page: string): string {
  return `/${organizationId}/${environment}/${page}`
}
