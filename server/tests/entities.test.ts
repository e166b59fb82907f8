import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleTransaction } from './example-transaction.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox

let entities = 0
async function newEntity(): Promise<string> {
  return (await acme.post('/v1/entities', { external_id: `e-${entities++}` })).body.id
}

test('an entity is created once and found again by its external id', async () => {
  const created = await acme.post('/v1/entities', {
    external_id: 'customer-1',
    type: 'person',
    display_name: 'Ada',
    country: 'GB',
  })
  assert.equal(created.status, 201)
  assert.deepEqual(
    { ...created.body, id: '', created_at: '', updated_at: '', trust: { ...created.body.trust, as_of: '' } },
    {
      id: '',
      object: 'entity',
      environment: 'sandbox',
      external_id: 'customer-1',
      type: 'person',
      display_name: 'Ada',
      country: 'GB',
      metadata: {},
      trust: { score: 0.5, negative_exposure: 0, positive_support: 0, evidence_count: 0, as_of: '' },
      created_at: '',
      updated_at: '',
    },
  )
  const again = await acme.post('/v1/entities', { external_id: 'customer-1' })
  assert.equal(again.status, 200)
  assert.deepEqual(again.body, created.body)
  assert.deepEqual((await acme.get(`/v1/entities/${created.body.id}`)).body, created.body)
})

test('the fields of a request are merged into a known entity, and only a real change is added to its trail', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'merge', metadata: { a: '1', b: '2' } })
  const changed = await acme.post('/v1/entities', {
    external_id: 'merge',
    type: 'business',
    metadata: { b: '', c: '3' },
  })
  assert.equal(changed.status, 200)
  assert.equal(changed.body.type, 'business')
  assert.deepEqual(
    changed.body.metadata,
    { a: '1', c: '3' },
    'metadata is merged by key, and an empty text removes a key',
  )
  await acme.post('/v1/entities', { external_id: 'merge', type: 'business' })
  const trail = await acme.get(`/v1/entities/${entity.id}/audit-trail`)
  assert.deepEqual(
    trail.body.data.map((entry: { type: string; seq: number }) => [entry.seq, entry.type]),
    [
      [2, 'entity.updated'],
      [1, 'entity.created'],
    ],
  )
})

test('the type of an entity cannot be changed', async () => {
  await acme.post('/v1/entities', { external_id: 'typed', type: 'person' })
  const refused = await acme.post('/v1/entities', { external_id: 'typed', type: 'business', display_name: 'Other' })
  assert.equal(refused.status, 409)
  assert.equal(refused.body.error.code, 'entity_type_conflict')
  assert.equal(
    (await acme.post('/v1/entities', { external_id: 'typed' })).body.display_name,
    undefined,
    'nothing was written',
  )
})

test('fifty simultaneous requests with one external id create one entity', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => acme.post('/v1/entities', { external_id: 'race' })),
  )
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
})

test('a hundred simultaneous merges and consents of one entity are all written', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'crowded' })
  const merges = Array.from({ length: 60 }, (_, n) =>
    acme.post('/v1/entities', { external_id: 'crowded', display_name: `Name ${n}` }),
  )
  const consents = Array.from({ length: 40 }, () =>
    acme.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing' }),
  )
  const statuses = (await Promise.all([...merges, ...consents])).map(({ status }) => status)
  assert.deepEqual(statuses, [...merges.map(() => 200), ...consents.map(() => 201)])
  const [row] = await database.query('SELECT count(*) AS n FROM audit_entries WHERE trail_id = $1', [entity.id])
  assert.equal(row!.n, 101, 'the creation and each of the hundred are on the trail')
})

test('identifiers that identify nothing, and blank ids, are refused: they would make all who send one the same', async () => {
  const id = await newEntity()
  const link = (identifier: object) =>
    acme.post(`/v1/entities/${id}/identity-links`, { identifier, verification: { status: 'verified' } })
  for (const [identifier, param] of [
    [{ type: 'tax_id', value: '---' }, '/identifier/value'],
    [{ type: 'phone', value: 'unknown' }, '/identifier/value'],
    [{ type: 'email', value: '\u200b' }, '/identifier/value'],
    [{ type: 'address', value: ', . ;' }, '/identifier/value'],
    [{ type: 'tax_id', value: '12-3', issuer: '--' }, '/identifier/issuer'],
  ] as const) {
    const { status, body } = await link(identifier)
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'validation_failed', param])
  }
  const blank = await acme.post('/v1/entities', { external_id: '\t ' })
  assert.deepEqual([blank.status, blank.body.error.param], [400, '/external_id'])
  const transactions = [exampleTransaction(' ')]
  const unnamed = await acme.post(`/v1/entities/${id}/transactions`, { transactions })
  assert.deepEqual([unnamed.status, unnamed.body.error.param], [400, '/transactions/0/external_id'])
})

test('a phone number in Arabic-Indic digits links only the entities that have this number', async () => {
  const holders = await Promise.all(
    ['+٤٤٢٠٧٩٤٦٠٠٠٠', '٤٤٢٠٧٩٤٦٩٩٩٩', '+44 20 7946 0000'].map(async (value) => {
      const id = await newEntity()
      const identifier = { type: 'phone', value }
      const { status } = await acme.post(`/v1/entities/${id}/identity-links`, {
        identifier,
        verification: { status: 'verified' },
      })
      assert.equal(status, 201)
      return id
    }),
  )
  const links = await database.query<{ entity_id: string; neighbour_id: string }>(
    'SELECT entity_id, neighbour_id FROM graph_links WHERE entity_id = ANY($1::text[])',
    [holders],
  )
  const [arabic, other, ascii] = holders
  assert.deepEqual(new Set(links.flatMap((link) => [link.entity_id, link.neighbour_id])), new Set([arabic, ascii]))
  assert.ok(!links.some((link) => link.entity_id === other))
})

test('an identifier is returned masked, and a link needs exactly one of an identifier and a related entity', async () => {
  const id = await newEntity()
  const link = await acme.post(`/v1/entities/${id}/identity-links`, {
    identifier: { type: 'tax_id', value: '12-3456789', issuer: 'US' },
    verification: { status: 'verified', verified_at: '2026-01-02T03:04:05+01:00' },
  })
  assert.equal(link.status, 201)
  assert.equal(link.body.identifier.value, '****789')
  assert.equal(link.body.verification.verified_at, '2026-01-02T02:04:05.000Z')

  const other = await newEntity()
  const verification = { status: 'unverified' }
  const edge = await acme.post(`/v1/entities/${id}/identity-links`, {
    related_entity_id: other,
    relationship: 'owner',
    ownership_share: 0.4,
    verification,
  })
  assert.equal(edge.status, 201)

  for (const [body, param] of [
    [{ verification }, ''],
    [
      {
        identifier: { type: 'email', value: 'a@b.example' },
        related_entity_id: other,
        relationship: 'owner',
        verification,
      },
      '',
    ],
    [{ related_entity_id: other, verification }, '/relationship'],
    [{ related_entity_id: id, relationship: 'same_as', verification }, '/related_entity_id'],
    [{ related_entity_id: other, relationship: 'director', ownership_share: 0.5, verification }, '/ownership_share'],
    [
      {
        identifier: { type: 'email', value: 'a@b.example' },
        verification: { status: 'verified', verified_at: '2999-01-01T00:00:00Z' },
      },
      '/verification/verified_at',
    ],
  ] as const) {
    const refused = await acme.post(`/v1/entities/${id}/identity-links`, body)
    assert.equal(refused.status, 400, JSON.stringify(body))
    assert.equal(refused.body.error.param, param)
  }
  const misspelt = await acme.post(`/v1/entities/${id}/identity-links`, {
    related_entity_id: 'Jo',
    relationship: 'owner',
    verification,
  })
  assert.equal(misspelt.body.error.message, 'related_entity_id must look like ent_06fk3v8tz9y7q2m4n6p8r0s1t3.')
  const unknown = `ent_0${'0'.repeat(25)}`
  const missing = await acme.post(`/v1/entities/${id}/identity-links`, {
    related_entity_id: unknown,
    relationship: 'owner',
    verification,
  })
  assert.equal(missing.status, 404)
  assert.equal(missing.body.error.param, '/related_entity_id')
})

test('consent is by default granted for all data categories from now on, and a second record revokes it', async () => {
  const id = await newEntity()
  const granted = await acme.post(`/v1/entities/${id}/consents`, { purpose: 'credit_underwriting' })
  assert.equal(granted.status, 201)
  assert.equal(granted.body.status, 'granted')
  assert.equal(granted.body.data_categories.length, 4)
  const revoked = await acme.post(`/v1/entities/${id}/consents`, {
    purpose: 'credit_underwriting',
    status: 'revoked',
    granted_at: granted.body.granted_at,
  })
  assert.equal(revoked.status, 201)
  assert.ok(revoked.body.revoked_at)
  const trail = await acme.get(`/v1/entities/${id}/audit-trail`)
  assert.deepEqual(
    trail.body.data.slice(0, 2).map(({ type }: { type: string }) => type),
    ['consent.revoked', 'consent.granted'],
  )

  for (const body of [
    { purpose: 'marketing', granted_at: '2999-01-01T00:00:00Z' },
    { purpose: 'marketing', revoked_at: '2026-01-01T00:00:00Z' },
    { purpose: 'marketing', status: 'revoked', granted_at: '2026-02-01T00:00:00Z', revoked_at: '2026-01-01T00:00:00Z' },
    { purpose: 'marketing', granted_at: '2026-02-01T00:00:00Z', expires_at: '2026-01-01T00:00:00Z' },
  ]) {
    assert.equal((await acme.post(`/v1/entities/${id}/consents`, body)).status, 400, JSON.stringify(body))
  }
})

test('feature snapshots with equal features have equal hashes, and one from the future is refused', async () => {
  const id = await newEntity()
  const one = await acme.post(`/v1/entities/${id}/feature-snapshots`, {
    source: 'bureau',
    as_of: '2026-10-01T00:00:00Z',
    features: { b: 1, a: 'x' },
  })
  const two = await acme.post(`/v1/entities/${id}/feature-snapshots`, {
    source: 'bureau',
    as_of: '2026-10-02T00:00:00Z',
    features: { a: 'x', b: 1.0 },
  })
  assert.equal(one.status, 201)
  assert.equal(one.body.sha256, two.body.sha256)
  const future = await acme.post(`/v1/entities/${id}/feature-snapshots`, {
    source: 'bureau',
    as_of: '2999-01-01T00:00:00Z',
    features: { a: 1 },
  })
  assert.deepEqual([future.status, future.body.error.param], [400, '/as_of'])
  const named = await acme.post(`/v1/entities/${id}/feature-snapshots`, {
    source: 'bureau',
    as_of: '2026-10-01T00:00:00Z',
    features: { 'Bad Name': 1 },
  })
  assert.deepEqual([named.status, named.body.error.param], [400, '/features/Bad Name'])
})

test('a time up to five minutes ahead is recorded as now, and one further ahead is refused', async () => {
  const { id } = (await acme.post('/v1/entities', { external_id: 'skewed' })).body
  const ahead = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  const requests: [path: string, body: (time: string) => object, field: string][] = [
    ['transactions', (time) => ({ transactions: [{ ...exampleTransaction(time), occurred_at: time }] }), 'occurred_at'],
    ['feature-snapshots', (time) => ({ source: 's', as_of: time, features: { a: 1 } }), 'as_of'],
    ['consents', (time) => ({ purpose: 'marketing', granted_at: time }), 'granted_at'],
    ['consents', (time) => ({ purpose: 'marketing', status: 'revoked', revoked_at: time }), 'revoked_at'],
    [
      'identity-links',
      (time) => ({
        identifier: { type: 'device', value: 'skewed-device' },
        verification: { status: 'verified', verified_at: time },
      }),
      'verified_at',
    ],
  ]
  for (const [path, body, field] of requests) {
    const send = (minutes: number) =>
      acme.post(`/v1/entities/${id}/${path}`, body(ahead(minutes)), { 'Idempotency-Key': `skew-${field}-${minutes}` })
    const accepted = await send(4)
    assert.equal(accepted.status, 201, accepted.text)
    const recorded = accepted.body[field] ?? accepted.body.verification?.[field]
    if (recorded !== undefined) assert.equal(recorded, accepted.body.created_at, path)
    const refused = await send(6)
    assert.equal(refused.status, 400, refused.text)
    assert.match(refused.body.error.message, new RegExp(`${field} is more than five minutes in the future`))
  }
})

test('display_name and country are cleared with null, and the trail says so', async () => {
  const sent = { external_id: 'cleared', display_name: 'Old name', country: 'DE' }
  const { id } = (await acme.post('/v1/entities', sent)).body
  const cleared = await acme.post('/v1/entities', { external_id: 'cleared', display_name: null })
  assert.equal(cleared.status, 200)
  assert.deepEqual(['display_name' in cleared.body, cleared.body.country], [false, 'DE'])
  assert.deepEqual((await acme.get(`/v1/entities/${id}/audit-trail`)).body.data[0].data.changed, ['display_name'])
  const both = await acme.post('/v1/entities', { external_id: 'new-and-clear', display_name: null, country: null })
  assert.equal(both.status, 201)
  const refused = await acme.post('/v1/entities', { external_id: 'cleared', country: 'Germany' })
  assert.equal(refused.body.error.message, 'country must be a current ISO 3166-1 country code such as DE.')
  const wrong = await acme.post('/v1/entities', { external_id: 'cleared', country: 49 })
  assert.equal(wrong.body.error.message, 'country must be a string or null.')
})

test('a cursor works for its own list only', async () => {
  const trails = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const { id } = (await acme.post('/v1/entities', { external_id: `cursor-${name}` })).body
      await acme.post(`/v1/entities/${id}/consents`, { purpose: 'marketing' })
      return `/v1/entities/${id}/audit-trail?limit=1`
    }),
  )
  const { next_cursor } = (await acme.get(trails[0]!)).body
  assert.equal((await acme.get(`${trails[0]}&cursor=${next_cursor}`)).body.data.length, 1)
  const refused = await acme.get(`${trails[1]}&cursor=${next_cursor}`)
  assert.deepEqual([refused.status, refused.body.error.param], [400, 'cursor'])
})

test('a revocation from before the grant on file is refused, unless it says which earlier consent it ended', async () => {
  const { id } = (await acme.post('/v1/entities', { external_id: 'revoked-early' })).body
  const path = `/v1/entities/${id}/consents`
  const purpose = 'credit_underwriting'
  await acme.post(path, { purpose, granted_at: '2026-06-01T00:00:00Z' })
  const early = { purpose, status: 'revoked', revoked_at: '2026-05-01T00:00:00Z' }
  const refused = await acme.post(path, early)
  assert.deepEqual([refused.status, refused.body.error.param], [400, '/revoked_at'])
  assert.match(refused.body.error.message, /granted, at 2026-06-01T00:00:00.000Z, so it would revoke nothing/)
  assert.equal((await acme.post(path, { ...early, granted_at: '2026-01-01T00:00:00Z' })).status, 201)
  assert.equal((await acme.post(path, { ...early, revoked_at: '2026-07-01T00:00:00Z' })).status, 201)
})

test('identifiers that are placeholders or cannot exist are refused with the reason', async () => {
  const { id } = (await acme.post('/v1/entities', { external_id: 'impossible' })).body
  for (const [type, value, reason] of [
    ['tax_id', 'N/A', 'is a placeholder'],
    ['government_id', '000-000-000', 'repeats one character'],
    ['email', 'ada.example.com', 'is not an e-mail address'],
    ['phone', '+49 1', 'fewer than 5 digits'],
    ['bank_account', 'DE89 3704 0044 0532 0130 01', 'check digits are wrong'],
  ] as const) {
    const link = { identifier: { type, value }, verification: { status: 'unverified' } }
    const refused = await acme.post(`/v1/entities/${id}/identity-links`, link)
    assert.deepEqual([refused.status, refused.body.error.param], [400, '/identifier/value'], value)
    assert.ok(refused.body.error.message.includes(reason), refused.body.error.message)
  }
})

test('the pages of an audit trail list every entry once, newest first', async () => {
  const id = await newEntity()
  for (let n = 0; n < 4; n++) await acme.post(`/v1/entities/${id}/consents`, { purpose: 'marketing' })
  const seqs: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await acme.get(`/v1/entities/${id}/audit-trail?limit=2${cursor && `&cursor=${cursor}`}`)
    assert.equal(page.status, 200)
    assert.equal(page.body.has_more, page.body.next_cursor !== null)
    seqs.push(...page.body.data.map(({ seq }: { seq: number }) => seq))
    cursor = page.body.next_cursor
  }
  assert.deepEqual(seqs, [5, 4, 3, 2, 1])
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=nonsense', 'limit=1&limit=2', 'surprise=1']) {
    const refused = await acme.get(`/v1/entities/${id}/audit-trail?${query}`)
    assert.equal(refused.status, 400, query)
    assert.equal(refused.body.error.param, query.split('=')[0])
  }
})

test('usage counts created entities and accepted transactions by day', async () => {
  const other = await api.newOrganization()
  const { body: entity } = await other.post('/v1/entities', { external_id: 'counted' })
  await other.post(
    `/v1/entities/${entity.id}/transactions`,
    { transactions: [exampleTransaction('a'), exampleTransaction('b')] },
    { 'Idempotency-Key': 'k' },
  )
  await other.post('/v1/entities', {})
  const usage = await other.get('/v1/usage')
  assert.equal(usage.status, 200)
  assert.equal(usage.body.totals.entities, 1)
  assert.equal(usage.body.totals.transactions, 2)
  assert.equal(usage.body.by_day.at(-1).transactions, 2)
  assert.equal((await other.get('/v1/usage?from=2026-02-01&to=2026-01-01')).body.error.param, 'from')
  assert.equal((await other.get('/v1/usage?from=yesterday')).status, 400)
  const early = await other.get('/v1/usage?to=2026-01-01')
  assert.equal(early.body.error.param, 'to')
  assert.match(early.body.error.message, /first day of this month.* Send from as well/)
})
