import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gauge, Registry } from 'prom-client'
import { MetricsPage } from './metrics-page.ts'

function countedPage() {
  const registry = new Registry()
  const seen = { writings: 0, nowMs: 0, fails: false }
  new Gauge({
    name: 'verdigraph_test',
    help: 'How often the page was written.',
    registers: [registry],
    collect() {
      if (seen.fails) throw new Error('no value')
      this.set(++seen.writings)
    },
  })
  return { seen, page: new MetricsPage(registry, () => seen.nowMs) }
}

test('many callers within a second share one page', async () => {
  const { seen, page } = countedPage()
  const pages = await Promise.all(Array.from({ length: 100 }, () => page.read()))
  seen.nowMs = 999
  assert.equal(await page.read(), pages[0])
  assert.equal(seen.writings, 1)
  seen.nowMs = 1_000
  assert.match(String(await page.read()), /^verdigraph_test 2$/m)
})

test('a page that could not be written is written again at the next call', async () => {
  const { seen, page } = countedPage()
  seen.fails = true
  await assert.rejects(page.read(), /no value/)
  seen.fails = false
  assert.match(String(await page.read()), /^verdigraph_test 1$/m)
})
