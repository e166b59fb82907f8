import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
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

/** A page within a place, with the search parameters that it has. */
function placePage<Module extends Record<string, unknown>, Name extends keyof Module>(
  path: PageName,
  load: () => Promise<Module>,
  name: Name,
) {
  return createRoute({
    getParentRoute: () => place,
    path,
    validateSearch: (search) => cleanSearch(path, search),
    component: page(load, name),
  })
}

const placePages = [
  placePage('overview', () => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
  placePage('playground', () => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
  placePage('decisions', () => import('./pages/decisions/decisions-page.tsx'), 'DecisionsPage'),
  placePage('decisions/$decisionId', () => import('./pages/decisions/decision-page.tsx'), 'DecisionPage'),
  placePage('review-queue', () => import('./pages/review-queue/review-queue-page.tsx'), 'ReviewQueuePage'),
  placePage('entities', () => import('./pages/entities/entities-page.tsx'), 'EntitiesPage'),
  placePage('entities/$entityId', () => import('./pages/entities/entity-page.tsx'), 'EntityPage'),
  placePage('policies', () => import('./pages/policies/policies-page.tsx'), 'PoliciesPage'),
  placePage('policies/new', () => import('./pages/policies/policy-editor-page.tsx'), 'PolicyEditorPage'),
  placePage('policies/$version', () => import('./pages/policies/policy-page.tsx'), 'PolicyPage'),
  placePage('live-gate', () => import('./pages/live-gate/live-gate-page.tsx'), 'LiveGatePage'),
  placePage('audit-log', () => import('./pages/audit-log/audit-log-page.tsx'), 'AuditLogPage'),
  placePage('webhooks', () => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  placePage('webhooks/$endpointId', () => import('./pages/webhooks/webhook-endpoint-page.tsx'), 'WebhookEndpointPage'),
  placePage('deliveries', () => import('./pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  placePage('api-keys', () => import('./pages/api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  placePage('usage', () => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
  placePage('team', () => import('./pages/team/team-page.tsx'), 'TeamPage'),
]

const routeTree = root.addChildren([
  home,
  signIn,
  welcome,
  invitation,
  accountFrame.addChildren([account]),
  place.addChildren([placeIndex, ...placePages]),
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
