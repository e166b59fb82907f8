import { resolve } from 'node:path'

/** The two walled-off halves of an installation. */
export type Environment = 'sandbox' | 'production'
/** Both environments. */
export const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'production']

/** The jobs a process can do; on PostgreSQL they may be spread over several. */
export type Role = 'console' | 'api' | 'worker'
/** All roles, which a process has unless it is told otherwise. */
export const ROLES: readonly Role[] = ['console', 'api', 'worker']

/** How many requests an organization may make in an environment, per node. */
export interface RateLimit {
  perSecond: number
  burst: number
}

/** Everything that can be set from outside, with its defaults filled in. */
export interface Config {
  host: string
  ports: { console: number } & Record<Environment, number>
  baseUrls: { console: string } & Record<Environment, string>
  dataDir: string
  /** Unset: the embedded database in `dataDir`. */
  databaseUrls: ({ control: string } & Record<Environment, string>) | undefined
  masterKey: string | undefined
  logLevel: string
  rateLimit: RateLimit
  /** Whether webhooks of the sandbox may go to this machine itself, for development. Production's never may. */
  webhooksAllowLoopback: boolean
  /** For how many days a delivery that is over is kept, with its attempts. */
  webhooksKeepDays: number
}

/** A setting has a value that cannot be used; the message says which and what would do. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the settings. This is the only place that looks at the environment variables. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const host = env.HOST || '127.0.0.1'
  const ports = {
    console: integer(env, 'CONSOLE_PORT', { standard: 4000, min: 0, max: 65_535 }),
    sandbox: integer(env, 'SANDBOX_PORT', { standard: 4010, min: 0, max: 65_535 }),
    production: integer(env, 'PRODUCTION_PORT', { standard: 4020, min: 0, max: 65_535 }),
  }
  refuseEqualPorts(ports)
  const urlHost = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const perSecond = integer(env, 'RATE_LIMIT_PER_SECOND', { standard: 5_000, min: 1, max: 10_000_000 })
  return {
    host,
    ports,
    baseUrls: {
      console: url(env, 'CONSOLE_BASE_URL', ['http:', 'https:']) ?? `http://${urlHost}:${ports.console}`,
      sandbox: url(env, 'SANDBOX_BASE_URL', ['http:', 'https:']) ?? `http://${urlHost}:${ports.sandbox}`,
      production: url(env, 'PRODUCTION_BASE_URL', ['http:', 'https:']) ?? `http://${urlHost}:${ports.production}`,
    },
    dataDir: resolve(env.DATA_DIR || './data'),
    databaseUrls: readDatabaseUrls(env),
    masterKey: env.MASTER_KEY || undefined,
    logLevel: oneOf(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    rateLimit: {
      perSecond,
      burst: integer(env, 'RATE_LIMIT_BURST', { standard: perSecond * 2, min: 1, max: 20_000_000 }),
    },
    // The embedded database is where development starts; a server is where others may register endpoints.
    webhooksAllowLoopback:
      oneOf(env, 'WEBHOOKS_ALLOW_LOOPBACK', ['true', 'false'], env.DATABASE_URL ? 'false' : 'true') === 'true',
    webhooksKeepDays: integer(env, 'WEBHOOKS_KEEP_DAYS', { standard: 30, min: 1, max: 3_650 }),
  }
}

function refuseEqualPorts(ports: Config['ports']): void {
  const given = Object.values(ports).filter((port) => port !== 0)
  if (new Set(given).size < given.length)
    throw new ConfigError('CONSOLE_PORT, SANDBOX_PORT and PRODUCTION_PORT must be three different ports')
}

/** Reads a list of roles such as `api,worker`; nothing given means all of them. */
export function readRoles(text: string | undefined): Role[] {
  if (!text) return [...ROLES]
  return text.split(',').map((name) => {
    const role = ROLES.find((known) => known === name.trim())
    if (!role) throw new ConfigError(`--roles has ${JSON.stringify(name.trim())}; the roles are ${ROLES.join(', ')}`)
    return role
  })
}

function readDatabaseUrls(env: Readonly<Record<string, string | undefined>>): Config['databaseUrls'] {
  const schemes = ['postgres:', 'postgresql:']
  const control = url(env, 'DATABASE_URL', schemes)
  const sandbox = url(env, 'SANDBOX_DATABASE_URL', schemes)
  const production = url(env, 'PRODUCTION_DATABASE_URL', schemes)
  if (!control) {
    if (sandbox || production)
      throw new ConfigError(
        'SANDBOX_DATABASE_URL and PRODUCTION_DATABASE_URL need DATABASE_URL, which holds the control data',
      )
    return undefined
  }
  return { control, sandbox: sandbox ?? control, production: production ?? control }
}

function integer(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  { standard, min, max }: { standard: number; min: number; max: number },
): number {
  const text = env[name]
  if (!text) return standard
  const value = Number(text)
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`)
  }
  return value
}

function oneOf(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  values: string[],
  standard: string,
): string {
  const text = env[name] || standard
  if (!values.includes(text))
    throw new ConfigError(`${name} must be one of ${values.join(', ')}, not ${JSON.stringify(text)}`)
  return text
}

/** Connection strings hold passwords, so the message never repeats the value. */
function url(env: Readonly<Record<string, string | undefined>>, name: string, schemes: string[]): string | undefined {
  const text = env[name]
  if (!text) return undefined
  if (!URL.canParse(text) || !schemes.includes(new URL(text).protocol)) {
    throw new ConfigError(
      `${name} must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    )
  }
  return text.replace(/\/$/, '')
}
