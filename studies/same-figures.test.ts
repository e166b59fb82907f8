import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { it } from 'node:test'

it('no study reads the clock, so that its figures do not depend on the day of the run', () => {
  const studies = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  assert.ok(studies.includes('berka.ts'))
  const onTheClock = studies.filter((file) =>
    /new Date\(\)|Date\.now/.test(readFileSync(`${import.meta.dirname}/${file}`, 'utf8')),
  )
  assert.deepEqual(onTheClock, [])
})
