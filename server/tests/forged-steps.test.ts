/** Steps of two people, one of which was inserted with SQL, without the master key: one person still does not suffice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addOperator } from '../src/admin/manage-operators.ts'
import { activatePolicy, approvePolicy, proposePolicy } from '../src/admin/manage-policies.ts'
import { retractOutcome } from '../src/admin/retract-outcome.ts'
import { byOperator, byService } from './acts.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const database = installation.storage.environments.sandbox
const store = installation.stores.sandbox

async function newTeam() {
  const organization = await api.newOrganization()
  const { id: organizationId } = organization
  const add = async (name: string) => {
    const wanted = { email: `${name}@example.com`, name, role: 'owner' }
    const added = await addOperator(installation, byService(organizationId), wanted)
    return byOperator(added)
  }
  return { organization, organizationId, ada: await add('ada'), grace: await add('grace') }
}

const policyNamed = (version: string) => sandboxPolicySource().replace(/^version: .*$/m, `version: ${version}`)

test('a policy whose approval was inserted with SQL cannot be activated', async () => {
  const { organizationId, ada, grace } = await newTeam()
  await proposePolicy(installation, ada, policyNamed('v2'))
  await approvePolicy(installation, grace, { version: 'v2' })
  await proposePolicy(installation, ada, policyNamed('v3'))
  const [approved, forged] = [
    (await store.policies.byVersion(organizationId, 'v2'))!,
    (await store.policies.byVersion(organizationId, 'v3'))!,
  ]
  await database.query(
    `INSERT INTO policy_steps (org_id, policy_id, number, step, checksum, evidence, reason, actor_type, actor_id, taken_at)
     SELECT org_id, $2, number, step, $3, evidence, reason, actor_type, actor_id, taken_at FROM policy_steps
     WHERE policy_id = $1 AND step = 'approved'`,
    [approved.id, forged.id, forged.checksum],
  )
  await assert.rejects(activatePolicy(installation, ada, 'v3'), { code: 'policy_altered' })
  assert.equal((await activatePolicy(installation, ada, 'v2')).state, 'active')
})

test('a policy that was inserted with SQL under the name of a colleague cannot be approved', async () => {
  const { organizationId, ada, grace } = await newTeam()
  await proposePolicy(installation, ada, policyNamed('v2'))
  const { id } = (await store.policies.byVersion(organizationId, 'v2'))!
  await database.query(
    `INSERT INTO policies (org_id, id, version, model_version, checksum, document, source, author_type, author_id, created_at)
     SELECT org_id, 'pol_forged', 'v2-forged', model_version, checksum, document, source, author_type, $2, created_at
     FROM policies WHERE id = $1`,
    [id, ada.by.operator.id],
  )
  await database.query(
    `INSERT INTO policy_steps (org_id, policy_id, number, step, checksum, evidence, reason, actor_type, actor_id, taken_at)
     SELECT org_id, 'pol_forged', number, step, checksum, evidence, reason, actor_type, actor_id, taken_at
     FROM policy_steps WHERE policy_id = $1`,
    [id],
  )
  await assert.rejects(approvePolicy(installation, grace, { version: 'v2-forged' }), { code: 'policy_altered' })
})

test('a proposal to take an outcome back that was inserted with SQL does not let one operator do it alone', async () => {
  const { organization, organizationId, ada, grace } = await newTeam()
  const create = async (path: string, body: object) => {
    const answer = await organization.post(path, body, { 'Idempotency-Key': path })
    assert.equal(answer.status, 201, answer.text)
    return answer.body.id as string
  }
  const entity = await create('/v1/entities', { external_id: 'subject' })
  const request = { entity_id: entity, product: 'credit_line', requested_amount: 5_000, currency: 'EUR' }
  const decision = await create('/v1/underwrite', request)
  const outcome = await create(`/v1/decisions/${decision}/outcomes`, {
    type: 'default',
    occurred_at: new Date().toISOString(),
  })
  await database.query(
    `INSERT INTO outcome_retractions (org_id, id, outcome_id, entity_id, step, reason, actor_type, actor_id, taken_at)
     VALUES ($1, 'ret_00', $2, $3, 'proposed', 'r', 'operator', $4, now())`,
    [organizationId, outcome, entity, ada.by.operator.id],
  )
  assert.equal((await retractOutcome(installation, grace, outcome)).state, 'retraction_proposed')
  assert.equal((await store.outcomes.withRetraction(organizationId, outcome))!.retracted_at, null)
  await assert.rejects(retractOutcome(installation, grace, outcome), { code: 'own_retraction' })
})
