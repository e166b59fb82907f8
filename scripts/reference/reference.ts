import { cliPage } from './cli.ts'
import { errorCodesPage } from './error-codes.ts'
import { eventTypesPage } from './event-types.ts'
import { featuresPage } from './features.ts'
import { capitalized, type Page, renderPage, table } from './markdown.ts'
import { operationsPage } from './operations.ts'
import { reasonCodesPage } from './reason-codes.ts'
import { rolesPage } from './roles.ts'
import { settingsPage } from './settings.ts'
import { transactionCategoriesPage } from './transaction-categories.ts'

const PAGES: Record<string, () => Page> = {
  'features.md': featuresPage,
  'transaction-categories.md': transactionCategoriesPage,
  'reason-codes.md': reasonCodesPage,
  'event-types.md': eventTypesPage,
  'error-codes.md': errorCodesPage,
  'settings.md': settingsPage,
  'cli.md': cliPage,
  'operations.md': operationsPage,
  'roles.md': rolesPage,
}

/** The texts of `docs/reference/`, by file name. */
export function referencePages(): Record<string, string> {
  const pages = Object.entries(PAGES).map(([file, page]) => [file, page()] as const)
  const index: Page = {
    title: 'Reference',
    lists: 'the pages of the reference',
    source: 'scripts/reference/reference.ts',
    body: [
      table(
        ['page', 'what it lists'],
        pages.map(([file, { title, lists }]) => [`[${title}](${file})`, capitalized(lists)]),
      ),
      'The HTTP API is described in [`openapi.json`](../../openapi.json), and the format of a policy in [`policies/policy.schema.json`](../../policies/policy.schema.json).',
    ],
  }
  return Object.fromEntries([['README.md', index] as const, ...pages].map(([file, page]) => [file, renderPage(page)]))
}
