import type { OutputOf } from './operation-types.ts'
import { useAccountOperation } from './use-operation.ts'
import { usePlace } from './use-place.ts'

type Me = OutputOf<'account.show'>

/** The caller's part in one organization: its name, their role and its permissions. */
export type Membership = Me['organizations'][number]

/** Reads who is signed in, and for which organizations. */
export function useMe() {
  return useAccountOperation('account.show', {})
}

/** The caller's membership in the organization of the URL; undefined while it loads, or if there is none. */
export function useMembership(): Membership | undefined {
  const { organizationId } = usePlace()
  return useMe().data?.organizations.find((organization) => organization.id === organizationId)
}

/** Whether the caller's role holds a permission here. The server checks it again: this only hides what it would refuse. */
export function usePermission(permission: Membership['permissions'][number]): boolean {
  return useMembership()?.permissions.includes(permission) ?? false
}
