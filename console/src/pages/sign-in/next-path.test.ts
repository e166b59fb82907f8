import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextPath } from './next-path.ts'

const origin = 'https://console.example.com'
const after = (next: string) => nextPath({ search: `?next=${encodeURIComponent(next)}`, hash: '', origin })

test('signing in leads to a path of the console, with its search string and fragment', () => {
  assert.equal(nextPath({ search: '', hash: '', origin }), '/')
  assert.equal(after('/org_1/production/team?role=owner#x'), '/org_1/production/team?role=owner#x')
  const invitation = `#next=${encodeURIComponent('/invitation#token')}`
  assert.equal(nextPath({ search: '?next=%2Faccount', hash: invitation, origin }), '/invitation#token')
})

test('signing in never leads to another site, however the address is written', () => {
  for (const next of [
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n\\evil.example',
    '\t//evil.example',
    '/.//evil.example',
    '/..//evil.example',
    'https://evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://console.example.com/',
    'https://console.example.com.evil.example/',
    'https://console.example.com@evil.example/',
    'https://[',
  ])
    assert.equal(new URL(after(next), origin).origin, origin, JSON.stringify(next))
})
