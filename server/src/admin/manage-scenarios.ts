import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Environment } from '../core/vocabularies.ts'
import type { Installation } from '../installation/installation.ts'
import { DatabaseError } from '../store/database/database.ts'
import { SCENARIOS_MAX } from '../store/environment/scenarios.ts'
import type { Change } from '../store/write-path/change.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { recordContext } from './record-context.ts'

/** Who keeps scenarios of the playground, and where. */
export interface ScenarioAct {
  environment: Environment
  organizationId: string
  actor: AdminActor
}

/** Why nothing was changed, in words for the operator. */
export interface ScenarioProblem {
  problem: string
  /** What the page has to react to. */
  code?: 'scenario_not_found' | 'name_taken'
}

/** The longest request of a scenario, as JSON: some hundred changed features. */
const REQUEST_CHARACTERS_MAX = 4_000

const NOT_FOUND: ScenarioProblem = {
  problem: 'there is no such scenario in this environment',
  code: 'scenario_not_found',
}

/** Keeps a request of the playground under a name that is free. */
export async function addScenario(
  installation: Installation,
  act: ScenarioAct,
  { name, request }: { name: string; request: object },
): Promise<{ id: string } | ScenarioProblem> {
  const text = JSON.stringify(request)
  const tooLong = lengthProblem(text)
  if (tooLong) return tooLong
  const { organizationId, actor } = act
  // Two operators who save at the same moment may exceed the number by one each.
  const kept = await installation.stores[act.environment].scenarios.list(organizationId)
  if (kept.length >= SCENARIOS_MAX) return { problem: `there are ${SCENARIOS_MAX} scenarios already: remove one first` }
  const id = installation.newId('scn')
  const context = recordContext(installation, act)
  const row = { id, name: name.trim(), request: text, saved_by: actor.id, saved_at: context.now }
  const entry = auditEntryRow(context, {
    type: 'scenario.added',
    trailId: id,
    subject: { type: 'scenario', id },
    data: { scenario_id: id },
  })
  const change = { organizationId, rows: { playground_scenarios: [row] }, auditEntries: [entry] }
  return (await commit(installation, act, { change, name })) ?? { id }
}

/** Renames a scenario, replaces its request, or both. */
export async function changeScenario(
  installation: Installation,
  act: ScenarioAct,
  { id, name, request }: { id: string; name?: string | undefined; request?: object | undefined },
): Promise<{ id: string } | ScenarioProblem> {
  const text = request === undefined ? null : JSON.stringify(request)
  const tooLong = lengthProblem(text ?? '')
  if (tooLong) return tooLong
  const { organizationId, actor } = act
  const context = recordContext(installation, act)
  const next = { id, name: name?.trim() ?? null, request: text, saved_by: actor.id, saved_at: context.now }
  const changed = (['name', 'request'] as const).filter((column) => next[column] !== null)
  const entry = auditEntryRow(context, {
    type: 'scenario.changed',
    trailId: id,
    subject: { type: 'scenario', id },
    data: { scenario_id: id, changed },
  })
  const change = { organizationId, changedScenarios: [next], auditEntries: [entry] }
  return (await commit(installation, act, { change, name: name ?? '' })) ?? { id }
}

/** Removes a scenario. */
export async function removeScenario(
  installation: Installation,
  act: ScenarioAct,
  id: string,
): Promise<{ id: string } | ScenarioProblem> {
  const { organizationId } = act
  const entry = auditEntryRow(recordContext(installation, act), {
    type: 'scenario.removed',
    trailId: id,
    subject: { type: 'scenario', id },
    data: { scenario_id: id },
  })
  const change = { organizationId, removedScenarios: [{ id }], auditEntries: [entry] }
  return (await commit(installation, act, { change, name: '' })) ?? { id }
}

/** Writes a change; returns why it was not written. */
async function commit(
  installation: Installation,
  { environment }: ScenarioAct,
  { change, name }: { change: Change; name: string },
): Promise<ScenarioProblem | undefined> {
  try {
    const { lost } = await installation.stores[environment].commit(change)
    if (lost === 'no_answer') return { problem: 'the database did not answer, and nothing was saved: try again' }
    return lost && NOT_FOUND
  } catch (error) {
    if (!(error instanceof DatabaseError && error.isUniqueViolation)) throw error
    return { problem: `there is a scenario named “${name.trim()}” already`, code: 'name_taken' }
  }
}

function lengthProblem(request: string): ScenarioProblem | undefined {
  if (request.length <= REQUEST_CHARACTERS_MAX) return undefined
  return { problem: `a scenario has at most ${REQUEST_CHARACTERS_MAX} characters: change fewer facts` }
}
