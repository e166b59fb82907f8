import type { NewRow } from '../store/schema/tables.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { recordSha256 } from '../store/write-path/record-hash.ts'
import { actorOf, contextOf, type EnvironmentAct, type OperatorActor, permitted, viaOf } from './act.ts'
import { findPolicy } from './find-policy.ts'
import { invalid } from './problem.ts'

/** The longest comment. */
export const COMMENT_CHARACTERS_MAX = 4_000

/** Adds a comment to a policy. Its words stay in its record; the audit log has their hash. */
export const commentOnPolicy = permitted(
  'comment on policies',
  async (
    installation,
    act: EnvironmentAct<OperatorActor>,
    { version, text }: { version: string; text: string },
  ): Promise<NewRow<'policy_comments'>> => {
    const { organizationId, environment } = act
    const body = text.trim()
    if (body === '' || body.length > COMMENT_CHARACTERS_MAX)
      throw invalid('comment_invalid', `A comment has 1 to ${COMMENT_CHARACTERS_MAX} characters.`)
    const store = installation.stores[environment]
    const policy = await findPolicy(installation, act, version)
    const actor = actorOf(act)
    const context = contextOf(installation, act)
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
        ...viaOf(act),
      },
    })
    await commitOrThrow(store, { organizationId, rows: { policy_comments: [row] }, auditEntries: [entry] })
    return row
  },
)
