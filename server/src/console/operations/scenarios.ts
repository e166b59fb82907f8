import { addScenario, changeScenario, removeScenario, type ScenarioProblem } from '../../admin/manage-scenarios.ts'
import { NOT_BLANK, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { defineOperation, type OperatorContext, type Refusal } from '../define-operation.ts'
import { DRY_REQUEST, requestProblem } from '../playground/dry-request.ts'

const id = Type.String({ minLength: 1, maxLength: 40 })
const Name = Type.String({ minLength: 1, maxLength: 80, pattern: NOT_BLANK })

/** Keeps a request of the playground under a name, for every operator of the organization. */
export const addScenarioOperation = defineOperation({
  summary: 'Keep a request of the playground under a name',
  access: 'keep scenarios',
  input: Strict({ name: Name, request: Strict(DRY_REQUEST) }),
  audit: ['scenario.added'],
  async handle(context) {
    const { installation, input } = context
    const problem = requestProblem(input.request)
    if (problem) return problem
    const added = await addScenario(installation, actOf(context), input)
    return 'problem' in added ? refusalOf(added) : added
  },
})

/** Renames a scenario of the playground, or replaces its request. */
export const changeScenarioOperation = defineOperation({
  summary: 'Rename a scenario of the playground, or replace its request',
  access: 'keep scenarios',
  input: Strict({ id, name: Type.Optional(Name), request: Type.Optional(Strict(DRY_REQUEST)) }),
  audit: ['scenario.changed'],
  async handle(context) {
    const { installation, input } = context
    const problem = input.request && requestProblem(input.request)
    if (problem) return problem
    const changed = await changeScenario(installation, actOf(context), input)
    return 'problem' in changed ? refusalOf(changed) : changed
  },
})

/** Removes a scenario of the playground. */
export const removeScenarioOperation = defineOperation({
  summary: 'Remove a scenario of the playground',
  access: 'keep scenarios',
  input: Strict({ id }),
  audit: ['scenario.removed'],
  async handle(context) {
    const removed = await removeScenario(context.installation, actOf(context), context.input.id)
    return 'problem' in removed ? refusalOf(removed) : removed
  },
})

function actOf({ organizationId, environment, operator }: OperatorContext<unknown>) {
  return { organizationId, environment, actor: { type: 'operator', id: operator.id } as const }
}

function refusalOf({ problem, code }: ScenarioProblem): Refusal {
  return { problem, status: code === 'scenario_not_found' ? 404 : 409, ...(code && { code }) }
}
