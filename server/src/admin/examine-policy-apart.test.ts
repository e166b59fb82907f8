import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { canonicalJson, sha256 } from '../core/canonical-json.ts'
import { ThreadPool } from '../threads/thread-pool.ts'
import type { PolicyToExamine } from './examine-policy.ts'
import { examinePolicyApart } from './examine-policy-apart.ts'

const threads = new ThreadPool()
after(() => threads.close())
const examine = (policy: PolicyToExamine) => examinePolicyApart(threads, policy, { organizationId: 'org_a' })

const SOURCE = readFileSync(join(import.meta.dirname, '../../../policies/sandbox-policy-v1.yaml'), 'utf8')

test('a policy is examined without the processor time of the main thread', async () => {
  const before = process.threadCpuUsage()
  const examined = await examine({ source: SOURCE })
  const { user, system } = process.threadCpuUsage(before)
  assert.ok('tests' in examined && examined.tests.length > 0)
  // Examined on the main thread, it takes at least 300 ms.
  assert.ok(user + system < 150_000, `${(user + system) / 1000} ms`)

  const document = canonicalJson(examined.document)
  const stored = await examine({ document, checksum: sha256(document) })
  assert.deepEqual(stored, examined)
})

test('a hostile policy file is refused with its problems, and an altered document too', async () => {
  const faultsOf = async (policy: PolicyToExamine) => {
    const examined = await examine(policy)
    assert.ok('faults' in examined)
    return examined.faults
  }
  assert.match(await faultsOf({ source: 'x'.repeat(300_000) }), /at most 262144 characters/)
  const keys = await faultsOf({ source: Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join('\n') })
  assert.match(keys, /must have required properties/)
  const aliases = await faultsOf({
    source: `a: &a [1]\n${Array.from({ length: 5_000 }, (_, index) => `b${index}: *a`).join('\n')}`,
  })
  assert.equal(aliases.split('\n').length, 100)
  assert.match(await faultsOf({ document: '{}', checksum: 'other' }), /not the one that was proposed/)
})
