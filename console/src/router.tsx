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

const overview = createRoute({
  getParentRoute: () => place,
  path: 'overview',
  component: page(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
})

const reviewQueue = createRoute({
  getParentRoute: () => place,
  path: 'review-queue',
  component: page(() => import('./pages/review-queue/review-queue-page.tsx'), 'ReviewQueuePage'),
})

const entities = createRoute({
  getParentRoute: () => place,
  path: 'entities',
  component: page(() => import('./pages/entities/entities-page.tsx'), 'EntitiesPage'),
})

const entity = createRoute({
  getParentRoute: () => place,
  path: 'entities/$entityId',
  component: page(() => import('./pages/entities/entity-page.tsx'), 'EntityPage'),
})

const decisions = createRoute({
  getParentRoute: () => place,
  path: 'decisions',
  component: page(() => import('./pages/decisions/decisions-page.tsx'), 'DecisionsPage'),
})

const decision = createRoute({
  getParentRoute: () => place,
  path: 'decisions/$decisionId',
  component: page(() => import('./pages/decisions/decision-page.tsx'), 'DecisionPage'),
})

const playground = createRoute({
  getParentRoute: () => place,
  path: 'playground',
  component: page(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
})

const apiKeys = createRoute({
  getParentRoute: () => place,
  path: 'api-keys',
  component: page(() => import('./pages/api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
})

const policies = createRoute({
  getParentRoute: () => place,
  path: 'policies',
  component: page(() => import('./pages/policies/policies-page.tsx'), 'PoliciesPage'),
})

const policyEditor = createRoute({
  getParentRoute: () => place,
  path: 'policies/new',
  component: page(() => import('./pages/policies/policy-editor-page.tsx'), 'PolicyEditorPage'),
})

const policy = createRoute({
  getParentRoute: () => place,
  path: 'policies/$version',
  component: page(() => import('./pages/policies/policy-page.tsx'), 'PolicyPage'),
})

const webhooks = createRoute({
  getParentRoute: () => place,
  path: 'webhooks',
  component: page(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})

const webhookEndpoint = createRoute({
  getParentRoute: () => place,
  path: 'webhooks/$endpointId',
  component: page(() => import('./pages/webhooks/webhook-endpoint-page.tsx'), 'WebhookEndpointPage'),
})

const deliveries = createRoute({
  getParentRoute: () => place,
  path: 'deliveries',
  component: page(() => import('./pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
})

const team = createRoute({
  getParentRoute: () => place,
  path: 'team',
  component: page(() => import('./pages/team/team-page.tsx'), 'TeamPage'),
})

const usage = createRoute({
  getParentRoute: () => place,
  path: 'usage',
  component: page(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
})

const liveGate = createRoute({
  getParentRoute: () => place,
  path: 'live-gate',
  component: page(() => import('./pages/live-gate/live-gate-page.tsx'), 'LiveGatePage'),
})

const auditLog = createRoute({
  getParentRoute: () => place,
  path: 'audit-log',
  component: page(() => import('./pages/audit-log/audit-log-page.tsx'), 'AuditLogPage'),
})

const routeTree = root.addChildren([
  home,
  signIn,
  welcome,
  invitation,
  accountFrame.addChildren([account]),
  place.addChildren([
    placeIndex,
    overview,
    reviewQueue,
    entities,
    entity,
    decisions,
    decision,
    playground,
    policies,
    policyEditor,
    policy,
    apiKeys,
    webhooks,
    webhookEndpoint,
    deliveries,
    team,
    usage,
    liveGate,
    auditLog,
  ]),
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
