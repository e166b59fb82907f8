import type { Membership } from '../api/use-me.ts'

const NAMES: Record<Membership['role'], string> = {
  owner: 'Owner',
  admin: 'Admin',
  policy_author: 'Policy author',
  policy_approver: 'Policy approver',
  reviewer: 'Reviewer',
  developer: 'Developer',
  viewer: 'Viewer',
}

/** The name of a role, as people read it. */
export function roleName(role: Membership['role']): string {
  return NAMES[role]
}

/** Roles as the persons to ask, such as "an owner or an admin". */
export function rolesInWords(roles: readonly Membership['role'][]): string {
  return roles.map((role) => `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${roleName(role).toLowerCase()}`).join(' or ')
}
