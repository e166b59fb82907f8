import { readFileSync } from 'node:fs'
import { type SuppliedErasures, supplyErasures, type WaivedErasures, waiveErasures } from '../admin/known-erasures.ts'
import { invalid } from '../admin/problem.ts'
import { defineCommand } from './command.ts'
import { commandAct, environmentOption, readEnvironment } from './shared-options.ts'

export const auditApplyErasures = defineCommand<SuppliedErasures>({
  name: 'audit apply-erasures',
  summary:
    'Apply the erasures of a file erasures-*.jsonl, such as that of another node, after an older backup was restored',
  usage: 'audit apply-erasures --from <file> [--environment sandbox|production]',
  options: {
    from: { type: 'string', description: 'the file with the erasures of that environment' },
    environment: environmentOption,
  },
  prepare(input) {
    const { from } = input.options
    if (from === undefined) throw invalid('file_missing', 'Add --from <file>.')
    try {
      return { ...input, options: { ...input.options, text: readFileSync(String(from), 'utf8') } }
    } catch {
      throw invalid('file_unreadable', `${from} of --from cannot be read.`)
    }
  },
  async run(installation, input) {
    const { from, text } = input.options
    const environment = readEnvironment(input.options)
    return supplyErasures(installation, commandAct(input, {}), { environment, file: String(from), text: String(text) })
  },
  render: ({ environment, supplied, erased_again }) =>
    [
      `${environment}: ${supplied} ${supplied === 1 ? 'erasure was' : 'erasures were'} not known here.`,
      ...(erased_again.length === 0
        ? ['No entity of the database was erased before.']
        : erased_again.map(({ organization_id, entity_id }) => `erased again: ${organization_id} ${entity_id}`)),
    ].join('\n'),
})

export const auditWaiveErasures = defineCommand<WaivedErasures[]>({
  name: 'audit waive-erasures',
  summary: 'Go on without a lost file erasures-*.jsonl: persons who were erased after the restored backup are back',
  usage: 'audit waive-erasures --reason <text>',
  options: {
    reason: {
      type: 'string',
      description: 'which backup was restored, and why no node has the file; recorded in the audit logs',
    },
  },
  async run(installation, input) {
    const act = commandAct(input, {})
    if (act.reason === undefined)
      throw invalid(
        'reason_missing',
        'Add --reason "…" to say which backup was restored, and why no node has the file: it is recorded in the logs.',
      )
    return waiveErasures(installation, { ...act, reason: act.reason })
  },
  render: (waived) =>
    waived.length === 0
      ? 'No file of erasures is missing: there is nothing to waive.'
      : waived
          .map(({ environment, organization_id }) => `${environment} ${organization_id}: the loss is on the log.`)
          .join('\n'),
})
