import { PERMISSIONS, rolesWith } from '../../server/src/admin/permissions.ts'
import { ROLES } from '../../server/src/store/control/operators.ts'
import { type Page, table } from './markdown.ts'

/** What each role may do, and see of applicants. */
export function rolesPage(): Page {
  return {
    title: 'Roles and permissions',
    lists: 'what each role may do in the console, and what it sees of applicants',
    source: 'server/src/admin/permissions.ts',
    body: [
      '[Operations of the console](operations.md) names the permission that each operation takes. What a role does not see of applicants is hidden by the server in every answer to the console; API keys are not people, and get what [`openapi.json`](../../openapi.json) says.',
      table(
        ['permission', ...ROLES],
        PERMISSIONS.map((permission) => [
          permission,
          ...ROLES.map((role) => (rolesWith(permission).includes(role) ? 'yes' : '')),
        ]),
      ),
    ],
  }
}
