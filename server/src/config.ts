import { resolve } from 'node:path'
import { type Environment, OPERATOR_ROLES } from './core/vocabularies.ts'
import { SCHEDULE_MAX_MS } from './core/webhooks/schedule.ts'
import {
  type Allowed,
  days,
  type GroupRole,
  isIssuer,
  oneOf,
  parseGroupRoles,
  parseNetworks,
  parseServers,
  url,
  wholeNumber,
} from './parse-settings.ts'

export { ENVIRONMENTS, type Environment } from './core/vocabularies.ts'

/** The jobs of a process; on PostgreSQL several processes may share them. */
export type Role = 'console' | 'api' | 'worker'
/** All roles: what a process does when `--roles` is not given. */
export const ROLES: readonly Role[] = ['console', 'api', 'worker']

/** How many requests an organization may make in an environment, per node. */
export interface RateLimit {
  perSecond: number
  burst: number
}

/** How operators sign in through an identity provider, by OpenID Connect. */
export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
  /** The claim that lists the groups of a person. */
  groupsClaim: string
  /** The role of each group; the highest role of a person's groups counts. */
  roles: readonly GroupRole[]
  /** Id or name of the organization that they become operators of; undefined: the oldest. */
  organization: string | undefined
}

/** All settings, read and completed with their defaults. */
export interface Config {
  host: string
  ports: { console: number } & Record<Environment, number>
  baseUrls: { console: string } & Record<Environment, string>
  dataDir: string
  /** A URL for each server of a cluster. Undefined: the embedded database in `dataDir`. */
  databaseUrls: ({ control: readonly string[] } & Record<Environment, readonly string[]>) | undefined
  /** Whether the embedded database syncs a write to the disk before it is acknowledged. */
  embeddedFsync: boolean
  /** How long a statement of a request or a background job may take on PostgreSQL. */
  databaseTimeoutMs: number
  masterKey: string | undefined
  logLevel: string
  /** How long `/readyz` says `draining` before a stopping service accepts no more requests. */
  drainMs: number
  /** Addresses and networks of the reverse proxies whose `X-Forwarded-For` says who the client is. */
  trustedProxies: readonly string[]
  rateLimit: RateLimit
  /** Whether sandbox webhooks may be sent to loopback addresses, for development. Production webhooks never are. */
  webhooksAllowLoopback: boolean
  /** How many days upkeep leaves what is deleted by age. */
  keepDays: {
    /** Finished deliveries with their attempts; for as long, events can be sent again. */
    webhooks: number
    /** Figures by day: usage, and how long decisions took. */
    usage: number
    /** Trust scores that an entity had. */
    trustHistory: number
    /** What decisions about erased entities were made from, counted from the decision. */
    erasedDecisions: number
    /** Backtests that newer ones of the same policy replaced. */
    backtests: number
  }
  /** How long after its opening a case of the review queue is to be decided. */
  reviewWithinHours: number
  /** Undefined: no single sign-on. */
  oidc: OidcSettings | undefined
}

/** A setting has a value that cannot be used; the message names the setting and the values it takes. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const ADDRESS: Allowed<string> = { words: 'an IP address or a host name', parse: (text) => text }
const FOLDER: Allowed<string> = { words: 'the path of a folder', parse: (text) => resolve(text) }
const KEY: Allowed<string> = { words: '32 bytes in base64', parse: (text) => text, secret: true }
const TEXT: Allowed<string> = { words: 'a text', parse: (text) => text.trim() || undefined }
const SECRET_TEXT: Allowed<string> = { ...TEXT, secret: true }
const ISSUER: Allowed<string> = {
  words: 'a URL that starts with https://, or with http:// and a loopback address',
  parse: (text) => (isIssuer(text) ? text : undefined),
}
const GROUP_ROLES: Allowed<readonly GroupRole[]> = {
  words: `a list such as risk-admins=admin,analysts=viewer, with the roles ${OPERATOR_ROLES.join(', ')}`,
  parse: parseGroupRoles,
}
const NETWORKS: Allowed<readonly string[]> = {
  words: 'a list of IP addresses and networks such as 10.0.0.0/8,192.0.2.7',
  parse: parseNetworks,
}
const DELIVERY_DAYS_MAX = Math.ceil(SCHEDULE_MAX_MS / (24 * 3_600_000))
const PORT = wholeNumber(0, 65_535)
const WEB_URL = url('http:', 'https:')
const POSTGRES_URL: Allowed<readonly string[]> = {
  words: 'a URL that starts with postgres:// or postgresql://, with one host or several with commas between them',
  parse: parseServers,
  secret: true,
}

/** One environment variable. `default` is a value it takes; where the default is computed, `otherwise` describes it. */
export type Setting<V = unknown> = { allowed: Allowed<V>; meaning: string } & (
  | { default: string }
  | { otherwise: string }
)

/** Every setting of the service; docs/reference/settings.md is generated from this table. */
export const SETTINGS = {
  DATA_DIR: {
    allowed: FOLDER,
    default: './data',
    meaning:
      'Folder of the embedded database, `master.key`, the newest heads of the audit logs, `first-run.txt`, the lock and the command-line socket.',
  },
  DATABASE_URL: {
    allowed: POSTGRES_URL,
    otherwise: 'the embedded database',
    meaning:
      'PostgreSQL server (15 or newer) to use instead of the embedded database. Of several hosts, the one that accepts writes is used.',
  },
  SANDBOX_DATABASE_URL: {
    allowed: POSTGRES_URL,
    otherwise: '`DATABASE_URL`',
    meaning: 'Separate PostgreSQL server for the sandbox. Needs `DATABASE_URL`, which holds the control data.',
  },
  PRODUCTION_DATABASE_URL: {
    allowed: POSTGRES_URL,
    otherwise: '`DATABASE_URL`',
    meaning: 'Separate PostgreSQL server for production. Needs `DATABASE_URL`, which holds the control data.',
  },
  DATABASE_TIMEOUT_SECONDS: {
    allowed: wholeNumber(1, 600),
    default: '10',
    meaning:
      'How long PostgreSQL may take for one statement of a request or a background job before the statement fails. Migrations and the command line are not limited by it.',
  },
  EMBEDDED_FSYNC: {
    allowed: oneOf('true', 'false'),
    default: 'true',
    meaning:
      'Whether the embedded database puts a write on disk (`fsync`) before it is acknowledged. `false` is for tests and trials: a power failure may then lose acknowledged writes or damage the database.',
  },
  MASTER_KEY: {
    allowed: KEY,
    otherwise: 'the file `DATA_DIR/master.key`, written on the first start',
    meaning: 'The key from which all other secrets are derived; every node of an installation needs the same.',
  },
  HOST: { allowed: ADDRESS, default: '127.0.0.1', meaning: 'Address on which all three ports listen.' },
  CONSOLE_PORT: {
    allowed: PORT,
    default: '4000',
    meaning: 'Port of the console and `/metrics`; 0 takes any free port. Every port has `/healthz` and `/readyz`.',
  },
  SANDBOX_PORT: { allowed: PORT, default: '4010', meaning: 'Port of the sandbox API; 0 takes any free port.' },
  PRODUCTION_PORT: { allowed: PORT, default: '4020', meaning: 'Port of the production API; 0 takes any free port.' },
  CONSOLE_BASE_URL: {
    allowed: WEB_URL,
    otherwise: '`http://HOST:CONSOLE_PORT`',
    meaning: 'URL under which people reach the console port, such as that of a reverse proxy.',
  },
  SANDBOX_BASE_URL: {
    allowed: WEB_URL,
    otherwise: '`http://HOST:SANDBOX_PORT`',
    meaning: 'URL under which clients reach the sandbox API.',
  },
  PRODUCTION_BASE_URL: {
    allowed: WEB_URL,
    otherwise: '`http://HOST:PRODUCTION_PORT`',
    meaning: 'URL under which clients reach the production API.',
  },
  DRAIN_SECONDS: {
    allowed: wholeNumber(0, 600),
    default: '0',
    meaning:
      'Seconds for which a stopping service still serves requests while `/readyz` answers 503, so that load balancers send the next ones elsewhere.',
  },
  TRUSTED_PROXIES: {
    allowed: NETWORKS,
    otherwise: 'none',
    meaning:
      'Addresses or networks of the reverse proxies before the ports, such as `10.0.0.0/8,192.0.2.7`. Only their `X-Forwarded-For` says who the client is, by whose address failed sign-ins and requests are counted.',
  },
  RATE_LIMIT_PER_SECOND: {
    allowed: wholeNumber(1, 10_000_000),
    default: '5000',
    meaning: 'Requests per second that an organization may make in one environment, on each node.',
  },
  RATE_LIMIT_BURST: {
    allowed: wholeNumber(1, 20_000_000),
    otherwise: 'twice `RATE_LIMIT_PER_SECOND`',
    meaning: 'Requests that an organization may make at once after a pause.',
  },
  WEBHOOKS_ALLOW_LOOPBACK: {
    allowed: oneOf('true', 'false'),
    otherwise: '`true` on the embedded database, `false` with `DATABASE_URL`',
    meaning: 'Whether sandbox webhooks may be sent to loopback addresses. Production webhooks never are.',
  },
  WEBHOOKS_KEEP_DAYS: {
    allowed: days(DELIVERY_DAYS_MAX, `the attempts to deliver one event can take ${DELIVERY_DAYS_MAX} days`),
    default: '30',
    meaning:
      'Days for which events can be sent again, and for which a finished delivery is kept with its attempts and what the receiver answered.',
  },
  USAGE_KEEP_DAYS: {
    allowed: days(60, 'the overview shows 30 days beside the 30 before'),
    default: '1095',
    meaning: 'Days for which the usage of each day, and how long its decisions took, are kept.',
  },
  TRUST_HISTORY_KEEP_DAYS: {
    allowed: days(1),
    default: '730',
    meaning:
      'Days of which the page of an entity shows how its trust score changed. Decisions hold the trust that they were made on.',
  },
  ERASED_DECISIONS_KEEP_DAYS: {
    allowed: days(1),
    default: '2557',
    meaning:
      'Days after a decision for which its facts, its trace and its figures are kept although its entity was erased; then only hashes are left. The default is seven years: set what the law asks of you.',
  },
  BACKTESTS_KEEP_DAYS: {
    allowed: days(1),
    default: '1095',
    meaning:
      'Days for which a backtest is kept that a newer one of the same policy replaced. The newest of a policy, and those that an approval names, are kept for good.',
  },
  REVIEW_WITHIN_HOURS: {
    allowed: wholeNumber(1, 8_760),
    default: '8',
    meaning: 'Hours within which a case of the review queue is to be decided; the console shows what is left of them.',
  },
  OIDC_ISSUER: {
    allowed: ISSUER,
    otherwise: 'no single sign-on',
    meaning:
      'Issuer of the OpenID Connect provider by which operators sign in to the console. Needs the client id, the client secret and `OIDC_ROLES`.',
  },
  OIDC_CLIENT_ID: { allowed: TEXT, otherwise: 'none', meaning: 'Client id of this installation at the provider.' },
  OIDC_CLIENT_SECRET: {
    allowed: SECRET_TEXT,
    otherwise: 'none',
    meaning: 'Client secret of this installation at the provider.',
  },
  OIDC_GROUPS_CLAIM: {
    allowed: TEXT,
    default: 'groups',
    meaning: 'Claim of the ID token, or of the user info, that lists the groups of a person.',
  },
  OIDC_ROLES: {
    allowed: GROUP_ROLES,
    otherwise: 'none',
    meaning:
      'Role that each group gives, such as `risk-admins=admin,analysts=viewer`. The highest role of a person’s groups counts; a person in none of them is refused.',
  },
  OIDC_ORGANIZATION: {
    allowed: TEXT,
    otherwise: 'the oldest organization',
    meaning: 'Id or name of the organization whose operators sign in through the provider.',
  },
  LOG_LEVEL: {
    allowed: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    meaning: 'The least severe log lines to write; `silent` writes none.',
  },
} as const satisfies Record<string, Setting>

/** The name of a setting. */
export type SettingName = keyof typeof SETTINGS

/** Environment variables, of which only those in `SETTINGS` can be read. */
export type SettingValues = { readonly [Name in SettingName]?: string | undefined }

/** What reading a setting gives: undefined only where the table has no default for it. */
type ValueOf<Name extends SettingName> =
  | ((typeof SETTINGS)[Name]['allowed'] extends Allowed<infer V> ? V : never)
  | ((typeof SETTINGS)[Name] extends { default: string } ? never : undefined)

/** Reads all settings. Only this function and the entry points that call it look at the environment variables. */
export function readConfig(env: SettingValues): Config {
  const read = <Name extends SettingName>(name: Name) => readSetting(env, name)
  const host = read('HOST')
  const ports = {
    console: read('CONSOLE_PORT'),
    sandbox: read('SANDBOX_PORT'),
    production: read('PRODUCTION_PORT'),
  }
  refuseEqualPorts(ports)
  const urlHost = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const perSecond = read('RATE_LIMIT_PER_SECOND')
  const databaseUrls = readDatabaseUrls(env)
  const allowLoopback = read('WEBHOOKS_ALLOW_LOOPBACK')
  return {
    host,
    ports,
    baseUrls: {
      console: read('CONSOLE_BASE_URL') ?? `http://${urlHost}:${ports.console}`,
      sandbox: read('SANDBOX_BASE_URL') ?? `http://${urlHost}:${ports.sandbox}`,
      production: read('PRODUCTION_BASE_URL') ?? `http://${urlHost}:${ports.production}`,
    },
    dataDir: read('DATA_DIR'),
    databaseUrls,
    embeddedFsync: read('EMBEDDED_FSYNC') === 'true',
    databaseTimeoutMs: read('DATABASE_TIMEOUT_SECONDS') * 1_000,
    masterKey: read('MASTER_KEY'),
    logLevel: read('LOG_LEVEL'),
    drainMs: read('DRAIN_SECONDS') * 1_000,
    trustedProxies: read('TRUSTED_PROXIES') ?? [],
    rateLimit: { perSecond, burst: read('RATE_LIMIT_BURST') ?? perSecond * 2 },
    // Development runs on the embedded database. On a server, others may register webhook endpoints.
    webhooksAllowLoopback: allowLoopback === undefined ? databaseUrls === undefined : allowLoopback === 'true',
    keepDays: {
      webhooks: read('WEBHOOKS_KEEP_DAYS'),
      usage: read('USAGE_KEEP_DAYS'),
      trustHistory: read('TRUST_HISTORY_KEEP_DAYS'),
      erasedDecisions: read('ERASED_DECISIONS_KEEP_DAYS'),
      backtests: read('BACKTESTS_KEEP_DAYS'),
    },
    reviewWithinHours: read('REVIEW_WITHIN_HOURS'),
    oidc: readOidc(env),
  }
}

/** Reads a list of roles such as `api,worker`; without one, a process has all roles. */
export function readRoles(text: string | undefined): Role[] {
  if (!text) return [...ROLES]
  return text.split(',').map((name) => {
    const role = ROLES.find((known) => known === name.trim())
    if (!role) throw new ConfigError(`--roles has ${JSON.stringify(name.trim())}; the roles are ${ROLES.join(', ')}`)
    return role
  })
}

function readSetting<Name extends SettingName>(env: SettingValues, name: Name): ValueOf<Name> {
  const setting: Setting = SETTINGS[name]
  // `||`, because an empty variable counts as unset.
  const text = env[name] || ('default' in setting ? setting.default : undefined)
  if (text === undefined) return undefined as ValueOf<Name>
  const { words, parse, secret } = setting.allowed
  const value = parse(text)
  if (value === undefined)
    throw new ConfigError(`${name} must be ${words}${secret ? '' : `, not ${JSON.stringify(text)}`}`)
  return value as ValueOf<Name>
}

function readDatabaseUrls(env: SettingValues): Config['databaseUrls'] {
  const control = readSetting(env, 'DATABASE_URL')
  const sandbox = readSetting(env, 'SANDBOX_DATABASE_URL')
  const production = readSetting(env, 'PRODUCTION_DATABASE_URL')
  if (control) return { control, sandbox: sandbox ?? control, production: production ?? control }
  if (sandbox || production)
    throw new ConfigError(
      'SANDBOX_DATABASE_URL and PRODUCTION_DATABASE_URL need DATABASE_URL, which holds the control data',
    )
  return undefined
}

function readOidc(env: SettingValues): OidcSettings | undefined {
  const issuer = readSetting(env, 'OIDC_ISSUER')
  const clientId = readSetting(env, 'OIDC_CLIENT_ID')
  const clientSecret = readSetting(env, 'OIDC_CLIENT_SECRET')
  const roles = readSetting(env, 'OIDC_ROLES')
  const groupsClaim = readSetting(env, 'OIDC_GROUPS_CLAIM')
  const organization = readSetting(env, 'OIDC_ORGANIZATION')
  if (issuer && clientId && clientSecret && roles)
    return { issuer, clientId, clientSecret, groupsClaim, roles, organization }
  if (issuer || clientId || clientSecret || roles || organization)
    throw new ConfigError(
      'single sign-on needs OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and OIDC_ROLES: set all of them or none',
    )
  return undefined
}

function refuseEqualPorts(ports: Config['ports']): void {
  const given = Object.values(ports).filter((port) => port !== 0)
  if (new Set(given).size < given.length)
    throw new ConfigError('CONSOLE_PORT, SANDBOX_PORT and PRODUCTION_PORT must be three different ports')
}
