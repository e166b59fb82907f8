import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runOnServer } from './command-socket.ts'

test('a data folder whose path is too long for a socket is refused with one line that says what to set', async () => {
  const call = { command: 'orgs list', input: { caller: 'test', options: {}, positionals: [] }, onProgress() {} }
  await assert.rejects(runOnServer(`/tmp/${'deep/'.repeat(30)}data`, call), {
    name: 'ConfigError',
    message: /longer than 100 bytes: set DATA_DIR to a shorter path$/,
  })
})
