import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')
const text = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8')

test('the threat model answers every risk of the OWASP API Security Top 10', () => {
  for (let risk = 1; risk <= 10; risk++) assert.match(text, new RegExp(`^\\| API${risk} `, 'm'))
})

test('every defence of the threat model names tests that exist', () => {
  const proved = text.split('\n').filter((line) => line.startsWith('|') && line.includes('`server/'))
  assert.ok(proved.length >= 17, `${proved.length} rows name a test`)
  for (const line of proved) {
    const files = [...line.split('|')[3]!.matchAll(/`(server\/[^`]+)`/g)].map((match) => match[1]!)
    assert.ok(files.length > 0, line)
    for (const file of files) assert.ok(existsSync(join(ROOT, file)), `${file} does not exist`)
  }
})

test('every test that the threat model quotes is in the file that it names', () => {
  const quoted = [...text.matchAll(/`(server\/[^`]+)`: (“[^”]+”(?:, “[^”]+”)*)/g)].flatMap(([, file, names]) =>
    [...names!.matchAll(/“([^”]+)”/g)].map(([, name]) => ({ file: file!, name: name! })),
  )
  assert.equal(quoted.length, text.match(/“/g)!.length, 'every quotation follows the file of its test')
  assert.ok(quoted.length >= 40)
  for (const { file, name } of quoted)
    assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(`test('${name}'`), `${file} has no test “${name}”`)
})

test('every defence of the console quotes the tests that show it', () => {
  const ofConsole = text.split('\n').filter((line) => line.startsWith('|') && line.includes('`server/tests/console-'))
  assert.ok(ofConsole.length >= 9, `${ofConsole.length} rows name tests of the console`)
  for (const line of ofConsole) assert.match(line.split('|')[3]!, /“/, line)
})
