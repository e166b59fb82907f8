import { checkpointOf } from '../../core/audit/checkpoint.ts'
import { fail, failValidation } from '../api-error.ts'
import { cursorOf, readCursor } from '../cursor.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { describeAuditEntry } from '../describe-audit-entry.ts'
import { AuditTrail } from '../schemas/audit-trail.ts'
import { EntityPath, PageQuery } from '../schemas/fields.ts'

const LIMIT_DEFAULT = 20

/** Lists everything that happened to an entity, newest first, with the signed head that covers it. */
export const listAuditTrail = defineEndpoint({
  operationId: 'listAuditTrail',
  summary: 'Entity audit trail',
  tag: 'Entities',
  method: 'GET',
  path: '/v1/entities/{entity_id}/audit-trail',
  scope: 'audit_trail:read',
  params: EntityPath,
  query: PageQuery,
  succeeds: { 200: AuditTrail },
  fails: ['entity_not_found', 'validation_failed'],

  async handle({ params, query, caller, store, environment, requestSeal }) {
    const organizationId = caller.organizationId
    const entity = await store.entities.find({ organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')

    const beforeSeq = query.cursor === undefined ? undefined : readCursor(entity.id, query.cursor)
    if (beforeSeq === 'malformed')
      return failValidation([
        { param: 'cursor', message: 'cursor must be the next_cursor of an earlier page of this list.' },
      ])

    const limit = query.limit ?? LIMIT_DEFAULT
    const rows = await store.auditLog.trail({ organizationId, trailId: entity.id, beforeSeq, limit: limit + 1 })
    const page = rows.slice(0, limit)
    if (page.some(({ leaf_index }) => leaf_index === null)) requestSeal(organizationId)
    const head = await store.auditLog.newestHead(organizationId)
    return {
      status: 200,
      body: {
        object: 'list',
        data: page.map(describeAuditEntry),
        has_more: rows.length > limit,
        next_cursor: rows.length > limit ? cursorOf(entity.id, page.at(-1)!.seq) : null,
        log: { environment, organization_id: organizationId },
        checkpoint: head ? checkpointOf(head) : null,
      },
    }
  },
})
