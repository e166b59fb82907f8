import type { Role } from '../store/control/operators.ts'

/** What each role may do, in words for the people who give roles. */
export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: 'May do everything, and alone may make, change and remove owners.',
  admin: 'May do everything except make, change or remove owners.',
  policy_author: 'Writes and proposes policies. Sees everything else.',
  policy_approver: 'Approves, rejects and activates policies that others wrote. Sees everything else.',
  reviewer: 'Decides review cases, and takes mistaken outcomes back with a second person. Sees everything else.',
  developer: 'Manages API keys and webhooks. Sees everything else.',
  viewer: 'Sees everything and changes nothing.',
}
