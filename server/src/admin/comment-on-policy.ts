import type { Installation } from '../installation/installation.ts'
import type { NewRow } from '../store/schema/tables.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import type { PolicyAct } from './manage-policies.ts'
import { actorOf, roleRefusal } from './operator-act.ts'
import { recordContext } from './record-context.ts'

/** The longest comment. */
export const COMMENT_CHARACTERS_MAX = 4_000

/** Adds a comment to a policy. Its words stay in its record; the audit log has their hash. */
export async function commentOnPolicy(
  installation: Installation,
  act: Omit<PolicyAct, 'reason'>,
  { version, text }: { version: string; text: string },
): Promise<NewRow<'policy_comments'> | { problem: string }> {
  const { organizationId, environment, operator } = act
  const refused = roleRefusal(operator, organizationId, 'comment on policies')
  if (refused) return refused
  const body = text.trim()
  if (body === '' || body.length > COMMENT_CHARACTERS_MAX)
    return { problem: `a comment has 1 to ${COMMENT_CHARACTERS_MAX} characters` }
  const store = installation.stores[environment]
  const policy = await store.policies.byVersion(organizationId, version)
  if (!policy) return { problem: `there is no policy ${JSON.stringify(version)} in ${environment}` }
  const { actor, via } = actorOf({ ...act, reason: '' })
  const context = recordContext(installation, { organizationId, actor })
  const row: NewRow<'policy_comments'> = {
    id: installation.newId('cmt'),
    policy_id: policy.id,
    body,
    actor_type: actor.type,
    actor_id: actor.id,
    created_at: context.now,
  }
  const entry = auditEntryRow(context, {
    type: 'policy.commented',
    // Not on the policy's own trail, whose newest entry is the state of the policy.
    trailId: row.id,
    subject: { type: 'policy_comment', id: row.id },
    data: {
      policy_id: policy.id,
      policy_version: policy.version,
      policy_checksum: policy.checksum,
      record_sha256: recordSha256<'policy_comments'>(organizationId, row),
      ...(via && { via }),
    },
  })
  await commitOrThrow(store, { organizationId, rows: { policy_comments: [row] }, auditEntries: [entry] })
  return row
}
