import { readFileSync } from 'node:fs'
import { invalid } from '../admin/problem.ts'
import { type RotatedKey, rotateMasterKey } from '../admin/rotate-master-key.ts'
import { parseMasterKey } from '../security/master-key-file.ts'
import { defineCommand } from './command.ts'
import { commandAct } from './shared-options.ts'

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
      throw invalid('new_key_unreadable', `${file} cannot be read.`)
    }
  },
  async run(installation, input) {
    const { reason, 'new-key-file': text } = input.options
    if (reason === undefined)
      throw invalid('reason_missing', 'Add --reason "…" to say why the key is replaced: it is recorded in the logs.')
    if (text === undefined && installation.config.masterKey !== undefined)
      throw invalid('new_key_missing', 'MASTER_KEY is set, so the new key has to be given.')
    const given = text === undefined ? undefined : parseMasterKey(String(text))
    return rotateMasterKey(installation, { ...commandAct(input, {}), reason: String(reason) }, given)
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
