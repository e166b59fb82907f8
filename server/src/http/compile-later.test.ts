import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileAll, compileLater } from './compile-later.ts'

test('nothing is compiled before the first call, and nothing twice', () => {
  let compilations = 0
  const double = compileLater(() => {
    compilations++
    return (number: number) => number * 2
  })
  assert.equal(compilations, 0)
  assert.deepEqual([double(1), double(2)], [2, 4])
  assert.equal(compilations, 1)
})

test('compileAll compiles what has not been called yet, and lets the event loop turn in between', async () => {
  await compileAll() // what other tests of this process put off
  const compiled: string[] = []
  const later = (name: string) =>
    compileLater(() => {
      compiled.push(name)
      return () => name
    })
  const called = later('called')
  called()
  later('first')
  later('second')
  setImmediate(() => compiled.push('a request'))
  await compileAll()
  assert.deepEqual(compiled, ['called', 'first', 'a request', 'second'])
  await compileAll()
  assert.equal(compiled.length, 4)
})

test('a schema that cannot be compiled stops no other, and is tried again', async () => {
  let isBroken = true
  const broken = compileLater(() => {
    if (isBroken) throw new Error('not a schema')
    return () => 'repaired'
  })
  let isOtherCompiled = false
  compileLater(() => {
    isOtherCompiled = true
    return () => {}
  })
  await assert.rejects(compileAll(), ({ errors }: AggregateError) => /not a schema/.test(String(errors)))
  assert.ok(isOtherCompiled)
  assert.throws(broken, /not a schema/)
  isBroken = false
  assert.equal(broken(), 'repaired')
})
