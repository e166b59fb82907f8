import { STEP_MOVES } from '../../admin/entity-steps.ts'
import { describeErasure, eraseEntity } from '../../admin/erase-entity.ts'
import { holdEntity, liftHold } from '../../admin/hold-entity.ts'
import { notFound } from '../../admin/problem.ts'
import { NOT_BLANK, OneOf, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { listOperators } from '../../store/control/operators.ts'
import { defineOperation } from '../define-operation.ts'

const entity_id = Type.String({ minLength: 1, maxLength: 40 })
const Step = Strict({
  entity_id,
  move: OneOf(STEP_MOVES),
  reason: Type.String({ minLength: 1, maxLength: 2_000, pattern: NOT_BLANK }),
})

/** Shows what stands against the erasure of an entity, its legal hold, and what waits for a second operator. */
const showErasure = defineOperation({
  summary: 'Show what stands against erasing an entity, its legal hold, and what was proposed',
  access: 'see the console',
  input: Strict({ entity_id }),
  audit: [],
  async handle({ input, installation, act, store, organizationId, operator }) {
    const entity = await store.entities.find({ organizationId, id: input.entity_id })
    if (!entity) throw notFound('entity_not_found', 'There is no such entity in this environment.')
    const [{ obstacles, hold, proposals }, operators] = await Promise.all([
      describeErasure(installation, act, entity),
      listOperators(installation.storage.control, organizationId),
    ])
    const nameOf = (id: string) => operators.find((one) => one.id === id)?.name ?? id
    return {
      entity_id: entity.id,
      obstacles,
      hold: hold && { reason: hold.reason, set_by: nameOf(hold.set_by), set_at: hold.set_at },
      proposals: proposals.map(({ effect, reason, proposed_by, proposed_at }) => ({
        effect,
        reason,
        proposed_by: nameOf(proposed_by),
        is_own: proposed_by === operator.id,
        proposed_at,
      })),
    }
  },
})

/** Proposes to erase a person; as the second operator approves it; or withdraws the proposal. */
const erase = defineOperation({
  summary: 'Propose to erase an entity, approve it as the second operator, or withdraw the proposal',
  access: eraseEntity.permission,
  input: Step,
  audit: ['entity.erasure_proposed', 'entity.erasure_withdrawn', 'entity.erased'],
  handle: ({ installation, act, input: { entity_id: entity, move } }) =>
    eraseEntity(installation, act, { entity, move }),
})

/** The same of a legal hold. */
const hold = defineOperation({
  summary: 'Propose a legal hold on an entity, approve it as the second operator, or withdraw the proposal',
  access: holdEntity.permission,
  input: Step,
  audit: ['entity.hold_proposed', 'entity.hold_withdrawn', 'entity.hold_set'],
  handle: ({ installation, act, input: { entity_id: entity, move } }) =>
    holdEntity(installation, act, { entity, move }),
})

/** The same of its end. */
const lift = defineOperation({
  summary: 'Propose to lift a legal hold, approve it as the second operator, or withdraw the proposal',
  access: liftHold.permission,
  input: Step,
  audit: ['entity.hold_lift_proposed', 'entity.hold_lift_withdrawn', 'entity.hold_lifted'],
  handle: ({ installation, act, input: { entity_id: entity, move } }) => liftHold(installation, act, { entity, move }),
})

/** The operations `entity-erasure.<verb>`. */
export const entityErasure = { show: showErasure, erase, hold, lift }
