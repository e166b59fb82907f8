import { addScenario, changeScenario, removeScenario } from '../../admin/manage-scenarios.ts'
import { NOT_BLANK, Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { defineOperation } from '../define-operation.ts'
import { DRY_REQUEST, requireDecidable } from '../playground/dry-request.ts'

const id = Type.String({ minLength: 1, maxLength: 40 })
const Name = Type.String({ minLength: 1, maxLength: 80, pattern: NOT_BLANK })

/** Keeps a request of the playground under a name, for every operator of the organization. */
const addScenarioOperation = defineOperation({
  summary: 'Keep a request of the playground under a name',
  access: addScenario.permission,
  input: Strict({ name: Name, request: Strict(DRY_REQUEST) }),
  audit: ['scenario.added'],
  async handle({ installation, act, input }) {
    requireDecidable(input.request)
    return addScenario(installation, act, input)
  },
})

/** Renames a scenario of the playground, or replaces its request. */
const changeScenarioOperation = defineOperation({
  summary: 'Rename a scenario of the playground, or replace its request',
  access: changeScenario.permission,
  input: Strict({ id, name: Type.Optional(Name), request: Type.Optional(Strict(DRY_REQUEST)) }),
  audit: ['scenario.changed'],
  async handle({ installation, act, input }) {
    if (input.request) requireDecidable(input.request)
    return changeScenario(installation, act, input)
  },
})

/** Removes a scenario of the playground. */
const removeScenarioOperation = defineOperation({
  summary: 'Remove a scenario of the playground',
  access: removeScenario.permission,
  input: Strict({ id }),
  audit: ['scenario.removed'],
  handle: ({ installation, act, input }) => removeScenario(installation, act, input.id),
})

/** The operations `scenarios.<verb>`. */
export const scenarios = {
  add: addScenarioOperation,
  change: changeScenarioOperation,
  remove: removeScenarioOperation,
}
