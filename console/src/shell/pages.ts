import {
  IconAffiliate,
  IconChartBar,
  IconFlask,
  IconInbox,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconRocket,
  IconScale,
  IconShieldLock,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { Environment } from '../../../server/src/core/vocabularies.ts'
import type { PageTarget } from '../components/page-search.ts'
import type { ShortcutGroup } from './shortcut-tables.ts'

/** A page of the navigation. */
export interface Page {
  /** The last part of its URL, after organization and environment. */
  path: Exclude<PageTarget['to'], `${string}/${string}`>
  title: string
  icon: ComponentType<{ size?: number; stroke?: number }>
  /** The second key after G that opens it. */
  key: string
  /** Other words under which the command menu finds it. */
  words: string
}

/** The pages, in the groups of the navigation. */
export const PAGE_GROUPS: readonly { title?: string; pages: readonly Page[] }[] = [
  {
    pages: [
      { path: 'overview', title: 'Overview', icon: IconLayoutDashboard, key: 'O', words: 'home dashboard figures' },
      {
        path: 'playground',
        title: 'Playground',
        icon: IconFlask,
        key: 'Y',
        words: 'try dry run what if personas compare',
      },
      { path: 'decisions', title: 'Decisions', icon: IconScale, key: 'D', words: 'verdicts evidence replay proof csv' },
      { path: 'review-queue', title: 'Review queue', icon: IconInbox, key: 'R', words: 'cases manual review waiting' },
      {
        path: 'entities',
        title: 'Entities',
        icon: IconAffiliate,
        key: 'E',
        words: 'people businesses trust graph links',
      },
    ],
  },
  {
    title: 'Govern',
    pages: [
      {
        path: 'policies',
        title: 'Policies',
        icon: IconListDetails,
        key: 'I',
        words: 'rules scorecard cutoff backtest approve activate version',
      },
      { path: 'live-gate', title: 'Live gate', icon: IconRocket, key: 'L', words: 'go live production stop approve' },
      { path: 'audit-log', title: 'Audit log', icon: IconShieldLock, key: 'A', words: 'history proof verify entries' },
    ],
  },
  {
    title: 'Build',
    pages: [
      { path: 'webhooks', title: 'Webhooks', icon: IconWebhook, key: 'W', words: 'endpoints events secret' },
      { path: 'api-keys', title: 'API keys', icon: IconKey, key: 'K', words: 'token secret scopes rotate' },
      { path: 'usage', title: 'Usage', icon: IconChartBar, key: 'U', words: 'requests limits csv' },
      { path: 'team', title: 'Team', icon: IconUsers, key: 'T', words: 'operators invite roles sign-on people' },
    ],
  },
]

/** All pages of the navigation, without their groups. */
export const PAGES: readonly Page[] = PAGE_GROUPS.flatMap((group) => group.pages)

/** The second key after G that shows the same page in an environment. */
export const ENVIRONMENT_KEYS: Readonly<Record<Environment, string>> = { sandbox: 'S', production: 'P' }

/** The sequences that open a page or the other environment. */
export const GO_TO: ShortcutGroup = {
  title: 'Go to',
  shortcuts: [
    ...PAGES.map(({ key, title }) => ({ keys: [`G ${key}`], does: title })),
    { keys: [`G ${ENVIRONMENT_KEYS.sandbox}`], does: 'Sandbox' },
    { keys: [`G ${ENVIRONMENT_KEYS.production}`], does: 'Production' },
  ],
}

/** Where each kind of id is shown; the command menu offers it when an id is pasted. */
const PAGE_OF_ID: Readonly<Record<string, { what: string; target: (id: string) => PageTarget }>> = {
  dec: { what: 'decision', target: (id) => ({ to: `decisions/${id}` }) },
  ent: { what: 'entity', target: (id) => ({ to: `entities/${id}` }) },
  cas: { what: 'case', target: (id) => ({ to: 'review-queue', search: { case: id } }) },
  whe: { what: 'webhook endpoint', target: (id) => ({ to: `webhooks/${id}` }) },
  evt: { what: 'deliveries of this event', target: (id) => ({ to: 'deliveries', search: { event_id: id } }) },
  aud: { what: 'audit entry', target: (id) => ({ to: 'audit-log', search: { entry: id } }) },
}

/** Finds the page that shows an object, by the prefix of its id. Ids without a page of their own lead to the audit log. */
export function pageOfId(text: string): { what: string; target: PageTarget } | undefined {
  const id = text.trim()
  if (!/^[a-z]{2,4}_[0-9a-z]{8,40}$/.test(id)) return undefined
  const known = PAGE_OF_ID[id.slice(0, id.indexOf('_'))]
  return known
    ? { what: `Open the ${known.what}`, target: known.target(id) }
    : { what: 'Find it on the audit log', target: { to: 'audit-log', search: { target: id } } }
}
