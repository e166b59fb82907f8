import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { findPolicy } from '../admin/find-policy.ts'
import { invalid, notFound } from '../admin/problem.ts'
import { findEntity } from '../admin/show-entity.ts'
import { requireTried, type TriedPolicy, tryPolicyApart, tryPolicyText } from '../admin/try-policy.ts'
import type { FactValue, MissingBecause } from '../core/facts/facts.ts'
import { factsFrom } from '../core/facts/facts-from.ts'
import { isObject } from '../core/stored-json.ts'
import type { Installation } from '../installation/installation.ts'
import { type DecisionRequest, factsOf } from '../underwriting/facts-of.ts'
import { readEntity } from '../underwriting/read-entity.ts'
import { type CommandInput, defineCommand } from './command.ts'
import { explainLines } from './decision-text.ts'
import { readSourceOrVersion } from './policy-files.ts'
import { printable } from './printable.ts'
import { readTarget, TARGET_USAGE, targetOptions } from './shared-options.ts'

interface Tried extends TriedPolicy {
  /** Whose facts were used: an entity, a test, or a file. */
  subject: string
}

export const policyTry = defineCommand<Tried>({
  name: 'policy try',
  summary: 'Decide as a dry run and say why: on the facts of a file, of a test of the policy, or of an entity',
  usage: `policy try <file or version> (--facts <file> | --test <name> | --entity <id> --product <product> [--amount <amount> --currency <code> [--term <months>]]) ${TARGET_USAGE}`,
  arguments: ['file or version'],
  options: {
    ...targetOptions,
    facts: {
      type: 'string',
      description: 'a file with `facts`, and perhaps `missing` and `age_days`, as a test has them',
    },
    test: { type: 'string', description: 'the name of a test of the policy file' },
    entity: { type: 'string', description: 'an entity, by its id or external id: its facts as they are now' },
    product: { type: 'string', description: 'with --entity: the product that is asked for' },
    amount: { type: 'string', description: 'with --entity: the amount that is asked for' },
    currency: { type: 'string', description: 'with --entity: the currency of the amount' },
    term: { type: 'string', description: 'with --entity: the months that the applicant chose' },
  },
  prepare(input) {
    const { options, positionals } = input
    const source = readSourceOrVersion(positionals[0]!)
    const { facts, test, entity } = options
    if ([facts, test, entity].filter((one) => one !== undefined).length !== 1)
      throw invalid('facts_missing', 'Name the facts by one of --facts, --test and --entity.')
    if (test !== undefined && source === undefined)
      throw invalid('facts_missing', 'The tests of a policy are in its file; name the file, or use --facts.')
    const given = facts === undefined ? undefined : readText(String(facts))
    return {
      ...input,
      options: { ...options, ...(source !== undefined && { source }), ...(given !== undefined && { given }) },
    }
  },
  runLocally({ options }) {
    if (options.source === undefined || options.entity !== undefined) return undefined
    const policy = { source: String(options.source) }
    const { facts, subject } = factsGiven(options)
    const decidedAt = new Date().toISOString()
    return { subject, ...requireTried(tryPolicyText({ policy, facts, decidedAt, environment: 'sandbox' })) }
  },
  async run(installation, { options, positionals }) {
    const target = await readTarget(installation, options)
    const { organizationId, environment } = target
    const policy =
      options.source === undefined
        ? await findPolicy(installation, target, positionals[0]!)
        : { source: String(options.source) }
    const now = new Date(installation.nowMs()).toISOString()
    const { facts, subject } =
      options.entity === undefined
        ? factsGiven(options)
        : await factsOfEntity(installation, options, { ...target, now })
    const trial = { policy, facts, decidedAt: now, environment }
    return { subject, ...(await tryPolicyApart(installation.threads, trial, { organizationId })) }
  },
  render: ({ subject, ...tried }) =>
    explainLines({
      ...tried,
      entity_id: subject,
      product: '',
      reviews: [],
      outcomes: [],
      matches: true,
      differences: [],
    })
      .slice(0, -2)
      .map(printable)
      .join('\n'),
})

type Options = CommandInput['options']

/** The facts of a file, or of a test of the policy. */
function factsGiven({ given, source, facts: file, test }: Options) {
  const written: unknown = given === undefined ? testNamed(String(source), String(test)) : parse(String(given))
  const { facts, missing, age_days } = isObject(written) && isObject(written.facts) ? written : { facts: written }
  if (!isObject(facts))
    throw invalid('facts_invalid', 'Write the facts as names with values, as a test of a policy has them.')
  return {
    subject: String(test ?? file),
    facts: factsFrom(
      facts as Record<string, FactValue>,
      typeof age_days === 'number' ? age_days : undefined,
      (missing ?? {}) as Record<string, MissingBecause>,
    ),
  }
}

function testNamed(source: string, name: string): unknown {
  const document: unknown = parse(source)
  const tests: unknown = isObject(document) ? document.tests : undefined
  const found = Array.isArray(tests) ? tests.find((test) => isObject(test) && test.name === name) : undefined
  if (found === undefined) throw invalid('facts_missing', `The policy has no test named '${name}'.`)
  return found
}

async function factsOfEntity(
  installation: Installation,
  { entity, product, amount, currency, term }: Options,
  { organizationId, environment, now }: { organizationId: string; environment: 'sandbox' | 'production'; now: string },
) {
  if ((amount === undefined) !== (currency === undefined))
    throw invalid('amount_incomplete', 'An amount needs a currency, and a currency an amount.')
  const requested = amount === undefined ? undefined : Number(amount)
  if (requested !== undefined && !(/^\d+(\.\d+)?$/.test(String(amount)) && requested > 0))
    throw invalid('amount_invalid', `'${amount}' is no amount above zero. Write it like 1000.50, without other marks.`)
  const request: DecisionRequest = {
    product: String(product ?? 'default'),
    ...(requested !== undefined && { requested_amount: requested, currency: String(currency) }),
    ...(term !== undefined && { term_months: monthsIn(String(term)) }),
  }
  const store = installation.stores[environment]
  const { id } = await findEntity(store, organizationId, String(entity))
  const reading = await readEntity(store, { organizationId, id })
  if (!reading) throw notFound('entity_not_found', 'There is no such entity in this environment.')
  return { subject: id, facts: factsOf(reading, request, { now }) }
}

function monthsIn(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text)
  throw invalid('term_invalid', `'${text}' is no number of months. Write it like 24.`)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw invalid('file_unreadable', `${file} cannot be read.`)
  }
}
