import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_SERVER, runOnServer } from './command-socket.ts'

const call = { command: 'orgs list', input: { caller: 'test', options: {}, positionals: [] }, onProgress() {} }

test('without a running server, the answer says so', async () => {
  assert.equal(await runOnServer('/tmp/verdigraph-nowhere', call), NO_SERVER)
})

test('a data folder whose path is too long for a socket is refused with one line that says what to set', async () => {
  await assert.rejects(runOnServer(`/tmp/${'deep/'.repeat(30)}data`, call), {
    name: 'ConfigError',
    message: /longer than 100 bytes: set DATA_DIR to a shorter path$/,
  })
})
