import { readFileSync } from 'node:fs'
import { type RotatedKey, rotateMasterKey } from '../admin/rotate-master-key.ts'
import { parseMasterKey } from '../security/master-key-file.ts'
import { defineCommand } from './command.ts'
import { osUser } from './os-user.ts'

export const masterKeyRotate = defineCommand<RotatedKey>({
  name: 'master-key rotate',
  summary: 'Replace the master key by a new one, while no node is running',
  usage: 'master-key rotate --reason <text> [--new-key-file <file>]',
  options: {
    reason: { type: 'string', description: 'why the key is replaced; recorded in the audit logs' },
    'new-key-file': {
      type: 'string',
      description: 'a file with the new key, 32 bytes in base64; needed where MASTER_KEY is set',
    },
  },
  needsStoppedServer: true,
  prepare(input) {
    const file = input.options['new-key-file']
    if (file === undefined) return input
    try {
      return { ...input, options: { ...input.options, 'new-key-file': readFileSync(String(file), 'utf8') } }
    } catch {
      return { problem: `${file} cannot be read: write the new key to it with openssl rand -base64 32` }
    }
  },
  async run(installation, input) {
    const reason = String(input.options.reason ?? '').trim()
    if (reason === '') return { problem: 'add --reason "…" to say why the key is replaced: it is recorded in the logs' }
    const text = input.options['new-key-file']
    if (text === undefined && installation.config.masterKey !== undefined)
      return {
        problem:
          'MASTER_KEY is set: write a new key to a file with openssl rand -base64 32, and name the file with --new-key-file',
      }
    const given = text === undefined ? undefined : parseMasterKey(String(text))
    return rotateMasterKey(installation, { given, actor: osUser(input), reason })
  },
  render: ({ logs, rows, secrets, unreadable, is_in_file }) =>
    [
      `The master key was replaced: ${logs} audit logs are signed with the new one, ${rows} rows that grant power have a MAC of it, ${secrets} secrets were encrypted again.`,
      ...unreadable.map((secret) => `Altered, so that it could not be decrypted and was left as it is: ${secret}.`),
      is_in_file
        ? 'master.key in the data folder holds the new key. Copy it to every other node, and back it up before you start them.'
        : 'Set MASTER_KEY to the new key on every node, and back it up before you start them.',
      'Give the new public keys to the people who verify the logs: audit public-key prints them.',
    ].join('\n'),
})
