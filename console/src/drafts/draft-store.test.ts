import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DraftStore } from './draft-store.ts'

const DAY_MS = 24 * 3_600_000

/** A storage as browsers have it, which can be full. */
function memoryStorage() {
  const texts = new Map<string, string>()
  return {
    isFull: false,
    get length() {
      return texts.size
    },
    key: (index: number) => [...texts.keys()][index] ?? null,
    getItem: (key: string) => texts.get(key) ?? null,
    setItem(key: string, text: string) {
      if (this.isFull) throw new Error('QuotaExceededError')
      texts.set(key, text)
    },
    removeItem: (key: string) => void texts.delete(key),
  }
}

const keptValue = (store: DraftStore, name: string) => store.parse(store.read(name))?.value

test('a draft is kept for seven days, and a sweep removes what is older', () => {
  let now = 0
  const storage = memoryStorage()
  const store = new DraftStore(storage, 'visit 1', () => now)
  store.write('acc_1 org_1 sandbox note case_1', { value: 'Ask for the lease.' })
  now = 7 * DAY_MS - 1
  assert.equal(keptValue(store, 'acc_1 org_1 sandbox note case_1'), 'Ask for the lease.')
  now += 1
  assert.equal(keptValue(store, 'acc_1 org_1 sandbox note case_1'), undefined)
  assert.equal(storage.length, 1)
  store.sweep()
  assert.equal(storage.length, 0)
})

test('what a draft replaced goes after seven days too, however long the draft itself is worked on', () => {
  let now = 0
  const storage = memoryStorage()
  new DraftStore(storage, 'visit 1', () => now).write('acc_1 a', { value: 'first' })
  now = 5 * DAY_MS
  const store = new DraftStore(storage, 'visit 2', () => now)
  store.write('acc_1 a', { value: 'second' })
  assert.deepEqual(store.parse(store.read('acc_1 a'))?.older, [{ value: 'first', atMs: 0 }])
  now = 8 * DAY_MS
  assert.deepEqual(store.parse(store.read('acc_1 a')), { value: 'second', atMs: 5 * DAY_MS, visit: 'visit 2' })
  store.sweep()
  assert.doesNotMatch(store.read('acc_1 a')!, /first/)
  store.write('acc_1 a', { value: 'third' })
  assert.doesNotMatch(store.read('acc_1 a')!, /older/)
})

test('signing out removes the drafts of that person only, and nothing else that the browser keeps', () => {
  const storage = memoryStorage()
  storage.setItem('mantine-color-scheme', 'dark')
  const store = new DraftStore(storage, 'visit 1')
  store.write('acc_1 org_1 sandbox a', { value: 'one' })
  store.write('acc_1 account name', { value: 'two' })
  store.write('acc_12 org_1 sandbox a', { value: 'three' })
  store.forget('acc_1')
  assert.equal(keptValue(store, 'acc_1 org_1 sandbox a'), undefined)
  assert.equal(keptValue(store, 'acc_12 org_1 sandbox a'), 'three')
  assert.equal(storage.getItem('mantine-color-scheme'), 'dark')
  assert.equal(storage.length, 2)
})

test('a draft stays on the page when the browser has no room for it', () => {
  const storage = memoryStorage()
  const store = new DraftStore(storage, 'visit 1')
  storage.isFull = true
  store.write('acc_1 org_1 sandbox a', { value: 'long' })
  assert.equal(keptValue(store, 'acc_1 org_1 sandbox a'), 'long')
  storage.isFull = false
  store.write('acc_1 org_1 sandbox a', { value: 'longer' })
  assert.equal(keptValue(new DraftStore(storage, 'visit 1'), 'acc_1 org_1 sandbox a'), 'longer')
})

test('what is not a draft is no draft, and every change is told', () => {
  const store = new DraftStore(memoryStorage(), 'visit 1')
  for (const text of [null, 'not JSON', 'null', '{}', '{"atMs":"now"}']) assert.equal(store.parse(text), undefined)
  let told = 0
  const stop = store.subscribe(() => (told += 1))
  store.write('acc_1 a', { value: 1 })
  store.remove('acc_1 a')
  stop()
  store.changed()
  assert.equal(told, 2)
})

test('what another visit had typed stays beside the draft that replaces it, three deep', () => {
  let now = 0
  const storage = memoryStorage()
  const write = (visit: string, value: string) => {
    now += 1
    new DraftStore(storage, visit, () => now).write('acc_1 a', { value })
  }
  const kept = () => {
    const store = new DraftStore(storage, 'reader', () => now)
    const { value, older = [] } = store.parse(store.read('acc_1 a'))!
    return [value, ...older.map((one) => one.value)]
  }
  write('tab 1', 'o')
  write('tab 1', 'one')
  assert.deepEqual(kept(), ['one'], 'a visit replaces its own text')
  write('tab 2', 'two')
  write('tab 2', 'two!')
  assert.deepEqual(kept(), ['two!', 'one'])
  for (const visit of ['tab 3', 'tab 4', 'tab 5']) write(visit, visit)
  assert.deepEqual(kept(), ['tab 5', 'tab 4', 'tab 3', 'two!'])
})

test('an act on an object ends the keys of the drafts about it, and of no other', () => {
  const store = new DraftStore(memoryStorage(), 'visit 1')
  const place = 'acc_1 org_1 sandbox'
  const others = [
    `${place} disable key_12`,
    `${place} new key`,
    `${place} comment key_1`,
    'acc_1 org_1 production disable key_1',
    'acc_2 org_1 sandbox disable key_1',
  ]
  for (const name of [`${place} disable key_1`, ...others]) store.write(name, { value: 'It leaked.', key: 'k' })
  for (const done of ['enable key_1', 'note key_1', 'comment key_12']) store.dropKeys(`${place} ${done}`)
  store.dropKeys('acc_1 org_1 production new key')
  const kept = (name: string) => store.parse(store.read(name))
  assert.equal(kept(`${place} disable key_1`)?.key, undefined)
  assert.equal(kept(`${place} disable key_1`)?.wasSent, true, 'it may have been done')
  assert.equal(keptValue(store, `${place} disable key_1`), 'It leaked.')
  for (const name of others) assert.equal(kept(name)?.key, 'k', name)
})
