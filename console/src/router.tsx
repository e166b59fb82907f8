import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  type RouteComponent,
  redirect,
} from '@tanstack/react-router'
import { ENVIRONMENTS, type Environment } from '../../server/src/core/vocabularies.ts'
import { FailedContent, FailedPage } from './components/failed.tsx'
import { cleanSearch, type PageName } from './components/page-search.ts'
import { AccountFrame } from './shell/account-frame.tsx'
import { ConsoleShell } from './shell/console-shell.tsx'
import { HomePage } from './shell/home-page.tsx'
import { loadPage } from './shell/load-page.ts'
import { NotFoundPage } from './shell/not-found-page.tsx'

/** A page whose code is loaded when it is first opened. */
function page<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(() => loadPage(load), name)
}

const root = createRootRoute({ component: Outlet, errorComponent: FailedPage, notFoundComponent: NotFoundPage })

const home = createRoute({ getParentRoute: () => root, path: '/', component: HomePage })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: page(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
})

const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  component: page(() => import('./pages/welcome/welcome-page.tsx'), 'WelcomePage'),
})

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: page(() => import('./pages/invitation/invitation-page.tsx'), 'InvitationPage'),
})

const accountFrame = createRoute({ getParentRoute: () => root, id: 'account-frame', component: AccountFrame })

const account = createRoute({
  getParentRoute: () => accountFrame,
  path: '/account',
  component: page(() => import('./pages/account/account-page.tsx'), 'AccountPage'),
})

const place = createRoute({
  getParentRoute: () => root,
  path: '/$organizationId/$environment',
  beforeLoad({ params }) {
    if (!ENVIRONMENTS.includes(params.environment as Environment)) throw notFound()
  },
  component: ConsoleShell,
})

const placeIndex = createRoute({
  getParentRoute: () => place,
  path: '/',
  beforeLoad({ params }) {
    throw redirect({ to: '/$organizationId/$environment/overview', params })
  },
})

/** The component of every page within a place: a page of the search parameters that has none here does not compile. */
const placePages: Readonly<Record<PageName, RouteComponent>> = {
  overview: page(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
  playground: page(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
  decisions: page(() => import('./pages/decisions/decisions-page.tsx'), 'DecisionsPage'),
  'decisions/$decisionId': page(() => import('./pages/decisions/decision-page.tsx'), 'DecisionPage'),
  'review-queue': page(() => import('./pages/review-queue/review-queue-page.tsx'), 'ReviewQueuePage'),
  entities: page(() => import('./pages/entities/entities-page.tsx'), 'EntitiesPage'),
  'entities/$entityId': page(() => import('./pages/entities/entity-page.tsx'), 'EntityPage'),
  policies: page(() => import('./pages/policies/policies-page.tsx'), 'PoliciesPage'),
  'policies/new': page(() => import('./pages/policies/policy-editor-page.tsx'), 'PolicyEditorPage'),
  'policies/$version': page(() => import('./pages/policies/policy-page.tsx'), 'PolicyPage'),
  'live-gate': page(() => import('./pages/live-gate/live-gate-page.tsx'), 'LiveGatePage'),
  'audit-log': page(() => import('./pages/audit-log/audit-log-page.tsx'), 'AuditLogPage'),
  webhooks: page(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  'webhooks/$endpointId': page(() => import('./pages/webhooks/webhook-endpoint-page.tsx'), 'WebhookEndpointPage'),
  deliveries: page(() => import('./pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  'api-keys': page(() => import('./pages/api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  usage: page(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
  team: page(() => import('./pages/team/team-page.tsx'), 'TeamPage'),
}

const placeRoutes = (Object.keys(placePages) as PageName[]).map((path) =>
  createRoute({
    getParentRoute: () => place,
    path,
    validateSearch: (search) => cleanSearch(path, search),
    component: placePages[path],
  }),
)

const routeTree = root.addChildren([
  home,
  signIn,
  welcome,
  invitation,
  accountFrame.addChildren([account]),
  place.addChildren([placeIndex, ...placeRoutes]),
])

/** Creates the router: every page is loaded when it is first opened, and search strings stay plain text. */
export function createConsoleRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    context: { queries },
    defaultPreload: 'intent',
    defaultErrorComponent: FailedContent,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search: Record<string, unknown>) => {
      const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
      return set.length > 0 ? `?${new URLSearchParams(set.map(([key, value]) => [key, String(value)]))}` : ''
    },
  })
}
