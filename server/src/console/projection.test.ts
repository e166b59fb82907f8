import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOT_VISIBLE, project } from './projection.ts'

const viewer = { role: 'viewer' } as const
const output = {
  name: 'Mia',
  id: 'ent_1',
  list: [{ name: 'Noa', external_id: 'n-1', id: 'ent_2' }, { name: null }],
  notes: [{ text: 'Called her.', at: 1, tags: ['ill', 3], more: { text: 'Moved.' } }],
  flow: { months: [1] },
  rows: [1, 2],
}

test('names become the id that the organization gave or ours, texts say that they are hidden, transactions are left out', () => {
  const personal = {
    names: ['name', 'list.*.name'],
    text: ['notes.*.text', 'notes.*.tags', 'notes.*.more'],
    transactions: ['flow', 'rows'],
  }
  assert.deepEqual(project(output, personal, viewer), {
    name: 'ent_1',
    id: 'ent_1',
    list: [{ name: 'n-1', external_id: 'n-1', id: 'ent_2' }, { name: null }],
    notes: [{ text: NOT_VISIBLE, at: 1, tags: [NOT_VISIBLE, 3], more: { text: NOT_VISIBLE } }],
    flow: null,
    rows: [],
  })
  assert.equal(output.name, 'Mia', 'what was read stays as it is')
  assert.deepEqual(project(output, personal, { role: 'owner' }), output)
})

test('a condition looks at the object that has the member, and a path that is not there changes nothing', () => {
  const where = ({ at }: Readonly<Record<string, unknown>>) => at === 2
  assert.deepEqual(
    project(output, { text: [{ path: 'notes.*.text', where }, 'gone.*.text', 'name.*.x'] }, viewer),
    output,
  )
})
