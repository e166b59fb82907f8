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
import { ENVIRONMENTS, type Environment } from './api/call.ts'
import { FailedPage } from './components/failed.tsx'
import { AccountFrame } from './shell/account-frame.tsx'
import { ConsoleShell } from './shell/console-shell.tsx'
import { HomePage } from './shell/home-page.tsx'
import { NotFoundPage } from './shell/not-found-page.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage })

const home = createRoute({ getParentRoute: () => root, path: '/', component: HomePage })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
})

const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./pages/welcome/welcome-page.tsx'), 'WelcomePage'),
})

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/invitation/invitation-page.tsx'), 'InvitationPage'),
})

const accountFrame = createRoute({ getParentRoute: () => root, id: 'account-frame', component: AccountFrame })

const account = createRoute({
  getParentRoute: () => accountFrame,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/account-page.tsx'), 'AccountPage'),
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
  component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
})

const reviewQueue = createRoute({
  getParentRoute: () => place,
  path: 'review-queue',
  component: lazyRouteComponent(() => import('./pages/review-queue/review-queue-page.tsx'), 'ReviewQueuePage'),
})

const entities = createRoute({
  getParentRoute: () => place,
  path: 'entities',
  component: lazyRouteComponent(() => import('./pages/entities/entities-page.tsx'), 'EntitiesPage'),
})

const entity = createRoute({
  getParentRoute: () => place,
  path: 'entities/$entityId',
  component: lazyRouteComponent(() => import('./pages/entities/entity-page.tsx'), 'EntityPage'),
})

const decisions = createRoute({
  getParentRoute: () => place,
  path: 'decisions',
  component: lazyRouteComponent(() => import('./pages/decisions/decisions-page.tsx'), 'DecisionsPage'),
})

const decision = createRoute({
  getParentRoute: () => place,
  path: 'decisions/$decisionId',
  component: lazyRouteComponent(() => import('./pages/decisions/decision-page.tsx'), 'DecisionPage'),
})

const playground = createRoute({
  getParentRoute: () => place,
  path: 'playground',
  component: lazyRouteComponent(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
})

const apiKeys = createRoute({
  getParentRoute: () => place,
  path: 'api-keys',
  component: lazyRouteComponent(() => import('./pages/api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
})

const policies = createRoute({
  getParentRoute: () => place,
  path: 'policies',
  component: lazyRouteComponent(() => import('./pages/policies/policies-page.tsx'), 'PoliciesPage'),
})

const policyEditor = createRoute({
  getParentRoute: () => place,
  path: 'policies/new',
  component: lazyRouteComponent(() => import('./pages/policies/policy-editor-page.tsx'), 'PolicyEditorPage'),
})

const policy = createRoute({
  getParentRoute: () => place,
  path: 'policies/$version',
  component: lazyRouteComponent(() => import('./pages/policies/policy-page.tsx'), 'PolicyPage'),
})

const webhooks = createRoute({
  getParentRoute: () => place,
  path: 'webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})

const webhookEndpoint = createRoute({
  getParentRoute: () => place,
  path: 'webhooks/$endpointId',
  component: lazyRouteComponent(() => import('./pages/webhooks/webhook-endpoint-page.tsx'), 'WebhookEndpointPage'),
})

const deliveries = createRoute({
  getParentRoute: () => place,
  path: 'deliveries',
  component: lazyRouteComponent(() => import('./pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
})

const team = createRoute({
  getParentRoute: () => place,
  path: 'team',
  component: lazyRouteComponent(() => import('./pages/team/team-page.tsx'), 'TeamPage'),
})

const usage = createRoute({
  getParentRoute: () => place,
  path: 'usage',
  component: lazyRouteComponent(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
})

const liveGate = createRoute({
  getParentRoute: () => place,
  path: 'live-gate',
  component: lazyRouteComponent(() => import('./pages/live-gate/live-gate-page.tsx'), 'LiveGatePage'),
})

const auditLog = createRoute({
  getParentRoute: () => place,
  path: 'audit-log',
  component: lazyRouteComponent(() => import('./pages/audit-log/audit-log-page.tsx'), 'AuditLogPage'),
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
    defaultErrorComponent: FailedPage,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search: Record<string, unknown>) => {
      const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
      return set.length > 0 ? `?${new URLSearchParams(set.map(([key, value]) => [key, String(value)]))}` : ''
    },
  })
}
