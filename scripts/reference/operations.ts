import { rolesWith } from '../../server/src/admin/permissions.ts'
import type { Operation } from '../../server/src/console/define-operation.ts'
import { operations } from '../../server/src/console/operations.ts'
import { code, codes, type Page, table } from './markdown.ts'

/** The operations of the console's backend, with the permission of each. */
export function operationsPage(): Page {
  const all = Object.entries(operations as Record<string, Operation>)
  return {
    title: 'Operations of the console',
    lists: 'what the page of the console calls, and who may',
    source: 'server/src/console/operations.ts',
    body: [
      'They are the backend of the page, not a public API: names and fields change with the page. An operation on the own account needs a session; an open one does not.',
      table(
        ['operation', 'does', 'permission', 'roles', 'records'],
        all.map(([name, { summary, access, audit }]) => [
          code(name),
          summary,
          access === 'open' || access === 'account' ? `(${access})` : access,
          access === 'open' || access === 'account' ? '' : rolesWith(access).join(', '),
          codes(audit),
        ]),
      ),
    ],
  }
}
