/** The term that an applicant chooses, through the API: refused, decided, replayed, verified and decided again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policyTry } from '../src/cli/policy-try.ts'
import { activateDocument } from './activate-document.ts'
import { startAuditLogScene } from './audit-log-scene.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import { editedDocument, ruleOf, withTerms } from './edited-policy.ts'
import { personas } from './personas.ts'
import { tamper } from './tamper.ts'

const { api, installation, database, sealer, verify } = await startAuditLogScene({ roles: ['api'] })
const acme = await api.newOrganization()
const [prime] = personas(new Date().toISOString())

/** A policy that lets applicants choose, and sends long terms of later decisions to a person. */
const policy = (version: string, longest?: number) =>
  editedDocument(({ products, inputs, rules }) => ({
    version,
    products: withTerms(products, { term_months: 24, term_choices: [12, 48] }),
    inputs: [...inputs, { feature: 'request.term_months', type: 'number', weight: 0 }],
    rules:
      longest === undefined
        ? rules
        : [ruleOf({ id: 'long', when: `request.term_months > ${longest}`, action: 'decline' }), ...rules],
  }))
await activateDocument(installation, policy('flexible'), { organizationId: acme.id })

async function newApplicant(name: string): Promise<string> {
  const { id } = (await acme.post('/v1/entities', { ...prime!.entity, external_id: name })).body
  for (const consent of prime!.consents) await acme.post(`/v1/entities/${id}/consents`, consent)
  for (const link of prime!.identityLinks) {
    const identifier = { ...link.identifier, value: `${link.identifier!.value}-${name}` }
    await acme.post(`/v1/entities/${id}/identity-links`, { ...link, identifier })
  }
  const account = { transactions: prime!.transactions }
  await acme.post(`/v1/entities/${id}/transactions`, account, { 'Idempotency-Key': `${name}-account` })
  return id
}

function askOver(id: string, term_months?: number) {
  const request = { entity_id: id, ...prime!.underwrite, ...(term_months !== undefined && { term_months }) }
  return acme.post('/v1/underwrite', request, { 'Idempotency-Key': crypto.randomUUID() })
}

/** The months and the instalment of a decision, as its replay has them. */
async function termsOf(id: string) {
  const { body } = await acme.get(`/v1/decisions/${id}/replay`)
  assert.equal(body.matches, true)
  return [body.evidence.product.term_months, body.evidence.product.instalment]
}

test('a chosen term makes the instalment of the decision, and its answer has the fields of any other', async () => {
  const id = await newApplicant('choosing')
  const [standard, long] = [await askOver(id), await askOver(id, 48)]
  assert.deepEqual([standard.status, long.status], [201, 201], long.text)
  const [months, instalment] = await termsOf(standard.body.id)
  const [chosen, lower] = await termsOf(long.body.id)
  assert.deepEqual([months, chosen], [24, 48])
  assert.ok(lower < instalment, `${lower} ${instalment}`)
  assert.deepEqual(Object.keys(long.body), Object.keys(standard.body))
})

test('a term that the product does not have is refused by its field, with those that it has', async () => {
  const id = await newApplicant('refused')
  const { status, body } = await askOver(id, 36)
  assert.deepEqual([status, body.error.code, body.error.param], [422, 'term_not_allowed', '/term_months'])
  assert.match(body.error.message, /its terms are 12, 24, 48 months/)
  for (const term of [0, 12.5, 601, '12'] as number[])
    assert.deepEqual(
      [(await askOver(id, term)).body.error.param, (await askOver(id, term)).status],
      ['/term_months', 400],
    )
})

test('a decision is made again over the chosen term, and left out where a later policy does not offer it', async () => {
  const id = await newApplicant('again')
  const decision = (await askOver(id, 48)).body
  assert.notEqual(decision.verdict, 'decline')
  const turned = async () => {
    // A worker of its own, because one knows the active policy of a second ago.
    const worker = newConsequenceWorker(installation)
    const snapshot = { source: 's', as_of: new Date().toISOString(), features: { x: 1 } }
    await acme.post(`/v1/entities/${id}/feature-snapshots`, snapshot)
    await worker.drain()
    const rows = await database.query<{ data: string }>(
      "SELECT data FROM audit_entries WHERE type = 'decision.reevaluation_due' AND data LIKE $1",
      [`%${decision.id}%`],
    )
    return rows.map(({ data }) => JSON.parse(data).current_verdict)
  }
  const fixed = { ...policy('fixed', 36), products: withTerms(policy('fixed').products, { term_months: 24 }) }
  for (const product of fixed.products) delete product.term_choices
  await activateDocument(installation, fixed, { organizationId: acme.id })
  assert.deepEqual(await turned(), [])
  await activateDocument(installation, policy('short', 36), { organizationId: acme.id })
  assert.deepEqual(await turned(), ['decline'])
  await activateDocument(installation, policy('flexible-again'), { organizationId: acme.id })
})

test('the command line tries a policy over a term, and refuses one that is no number of months', async () => {
  const id = await newApplicant('tried')
  const { product, requested_amount, currency } = prime!.underwrite
  const tried = (term: string) =>
    policyTry.run(installation, {
      positionals: ['flexible'],
      options: { org: acme.id, entity: id, product, amount: String(requested_amount), currency: currency!, term },
      caller: { uid: 0, name: 'root' },
    } as never)
  assert.equal((await tried('48')).evidence.product.term_months, 48)
  await assert.rejects(tried('36'), /its terms are 12, 24, 48 months/)
  await assert.rejects(tried('4 years'), { code: 'term_invalid' })
})

test('verification names a decision whose stored term was altered', async () => {
  const { body } = await askOver(await newApplicant('altered'), 48)
  // The sealer of the running service may be sealing some entries meanwhile.
  do await sealer.sealAll()
  while ((await installation.stores.sandbox.sealing.organizations()).includes(acme.id))
  assert.deepEqual((await verify(acme)).problems, [])
  await tamper(database, 'UPDATE decisions SET term_months = 12 WHERE id = $1', [body.id])
  const { problems } = await verify(acme)
  assert.deepEqual([problems.length, /term_months/.test(problems[0]!)], [1, true], problems.join())
})
