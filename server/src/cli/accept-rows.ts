import { type AcceptedRows, acceptRows, type RefusedSubject } from '../admin/accept-rows.ts'
import { invalid } from '../admin/problem.ts'
import { defineCommand } from './command.ts'
import { commandAct } from './shared-options.ts'

export const auditAcceptRows = defineCommand<AcceptedRows>({
  name: 'audit accept-rows',
  summary: 'List or accept roles, accounts and ways to sign in that are refused, after one database alone was restored',
  usage: 'audit accept-rows [--reason <text> [--superseded <id>,…]]',
  options: {
    reason: {
      type: 'string',
      description: 'which backup was restored, and why; recorded in the audit logs. Without it, nothing is changed',
    },
    superseded: {
      type: 'string',
      description:
        'ids of listed subjects to accept although the log has a newer entry about them, which may have ended them',
    },
  },
  async run(installation, input) {
    const { reason, superseded } = input.options
    if (reason === undefined && superseded !== undefined)
      throw invalid('reason_missing', 'Add --reason "…" to say which backup was restored: it is recorded in the logs.')
    const named = superseded === undefined ? [] : String(superseded).split(',')
    return acceptRows(installation, commandAct(input, {}), { superseded: named })
  },
  render({ subjects, sessions_ended }) {
    const lines = subjects.map(renderSubject)
    if (sessions_ended > 0) lines.push(`${sessions_ended} refused sessions were ended: their people sign in again.`)
    return lines.length === 0 ? 'No role, account or way to sign in is refused.' : lines.join('\n')
  },
})

function renderSubject(refused: RefusedSubject): string {
  const { subject, organization_id, tables, says, written_at, superseded_by, is_accepted } = refused
  const newer = superseded_by
    ? `the log has a newer entry, ${superseded_by.type} of ${superseded_by.occurred_at}`
    : 'the log has lost its entry'
  const what = `${organization_id} ${subject} (${tables.join(', ')}${says && `: ${says}`}), written ${written_at}`
  return `${is_accepted ? 'accepted' : 'refused '}  ${what}: ${newer}`
}
