import type { InputOf } from '../api/operation-types.ts'

/** Reads a parameter of the URL; undefined for a word that the page does not know, which is dropped. */
type Parameter<Value extends string = string> = (text: string) => Value | undefined

const text: Parameter = (value) => value

function oneOf<const Word extends string>(...words: readonly Word[]): Parameter<Word> {
  return (value) => words.find((word) => word === value)
}

/** Filters of a list, named as in the input of its operation. Any text is kept: a chip shows it, and the server refuses it. */
function filtersOf<Input>() {
  return <Name extends keyof Input & string>(...names: Name[]) =>
    Object.fromEntries(names.map((name) => [name, text])) as unknown as {
      readonly [N in Name]: Parameter<NonNullable<Input[N]> & string>
    }
}

/** The search parameters that every page has besides its own. */
const ON_EVERY_PAGE = {
  /** The order of its table: a column, or `-` and a column for descending. */
  sort: text,
}

const DELIVERIES = {
  ...filtersOf<InputOf<'deliveries.list'>>()('endpoint_id', 'event_id', 'state', 'event_type', 'answer'),
  /** The delivery that is unfolded. */
  open: text,
}

/** The other search parameters of each page, by its path within a place. */
const PAGE_PARAMETERS = {
  overview: { range: oneOf<InputOf<'overview.show'>['range']>('24h', '7d', '30d') },
  playground: {
    entity: text,
    product: text,
    amount: text,
    currency: text,
    term: text,
    decision: text,
    persona: text,
    a: text,
    b: text,
    scenario: text,
    with: text,
  },
  decisions: {
    ...filtersOf<InputOf<'decisions.list'>>()('verdict', 'tier', 'policy_version', 'product', 'entity_id'),
    ...filtersOf<InputOf<'decisions.list'>>()('review', 'outcome'),
    from: text,
    to: text,
  },
  'decisions/$decisionId': {},
  'review-queue': {
    ...filtersOf<InputOf<'cases.list'>>()('state', 'deadline'),
    holder: oneOf<'mine' | 'free' | 'to_sign'>('mine', 'free', 'to_sign'),
    case: text,
  },
  entities: filtersOf<InputOf<'entities.list'>>()('search'),
  'entities/$entityId': { hops: oneOf('1', '2') },
  policies: {},
  'policies/new': { from: text, calibrated: oneOf('1') },
  'policies/$version': { tab: oneOf('proposal', 'page', 'yaml', 'diff', 'tests', 'backtest', 'calibration') },
  'live-gate': {},
  'audit-log': {
    ...filtersOf<InputOf<'audit-log.list'>>()('actor', 'type', 'target'),
    from: text,
    to: text,
    entry: text,
  },
  webhooks: { create: oneOf('1') },
  'webhooks/$endpointId': DELIVERIES,
  deliveries: DELIVERIES,
  'api-keys': { create: oneOf('1') },
  usage: {
    ...filtersOf<InputOf<'usage.show'>>()('from', 'to', 'key'),
    show: oneOf('decisions', 'transactions'),
  },
  team: { invite: oneOf('1'), removed: oneOf('shown') },
}

/** A page within a place, by the path of its route. */
export type PageName = keyof typeof PAGE_PARAMETERS

type ParametersOf<Page extends PageName> = (typeof PAGE_PARAMETERS)[Page] & typeof ON_EVERY_PAGE

/** The search parameters of a page. */
export type SearchOf<Page extends PageName> = {
  readonly [Name in keyof ParametersOf<Page>]?:
    | (ParametersOf<Page>[Name] extends Parameter<infer Value> ? Value : never)
    | undefined
}

type PathOf<Page extends string> = Page extends `${infer List}/$${string}` ? `${List}/${string}` : Page

/** A page within a place, with its search parameters. */
export type PageTarget = {
  [Page in PageName]: { to: PathOf<Page>; search?: SearchOf<Page> | undefined }
}[PageName]

/** Reads the parameters of a page. Those that it does not have, and words that it does not know, are left out. */
export function readSearch<Page extends PageName>(
  page: Page,
  search: Readonly<Record<string, unknown>>,
): SearchOf<Page> {
  const read = Object.entries(parametersOf(page)).map(([name, parse]) => {
    const value = search[name]
    return [name, typeof value === 'string' && value !== '' ? parse(value) : undefined] as const
  })
  return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as SearchOf<Page>
}

/**
 * The parameters of a page by name, undefined where its address has none or a word that the page does not know. The router
 * merges them into the address: such words go, and a parameter that the page does not have stays until the next link.
 */
export function cleanSearch(page: PageName, search: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const dropped = Object.fromEntries(Object.keys(parametersOf(page)).map((name) => [name, undefined]))
  return { ...dropped, ...readSearch(page, search) }
}

function parametersOf(page: PageName): Readonly<Record<string, Parameter>> {
  return { ...PAGE_PARAMETERS[page], ...ON_EVERY_PAGE }
}
