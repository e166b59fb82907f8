import type { Installation } from '../installation/installation.ts'
import { DatabaseError } from '../store/database/database.ts'
import { SCENARIOS_MAX } from '../store/environment/scenarios.ts'
import type { Change } from '../store/write-path/change.ts'
import { commitUnlessForestalled } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { actorOf, contextOf, type EnvironmentAct, permitted } from './act.ts'
import { conflict, invalid, notFound } from './problem.ts'

/** The longest request of a scenario, as JSON: some hundred changed features. */
const REQUEST_CHARACTERS_MAX = 4_000

/** Keeps a request of the playground under a name that is free. */
export const addScenario = permitted(
  'keep scenarios',
  async (installation, act: EnvironmentAct, { name, request }: { name: string; request: object }) => {
    const text = scenarioText(request)
    const { organizationId } = act
    // Two operators who save at the same moment may exceed the number by one each.
    const kept = await installation.stores[act.environment].scenarios.list(organizationId)
    if (kept.length >= SCENARIOS_MAX) throw conflict('scenarios_full', `There are ${SCENARIOS_MAX} scenarios already.`)
    const id = installation.newId('scn')
    const context = contextOf(installation, act)
    const row = { id, name: name.trim(), request: text, saved_by: actorOf(act).id, saved_at: context.now }
    const entry = auditEntryRow(context, {
      type: 'scenario.added',
      trailId: id,
      subject: { type: 'scenario', id },
      data: { scenario_id: id },
    })
    const change = { organizationId, rows: { playground_scenarios: [row] }, auditEntries: [entry] }
    await commit(installation, act, { change, name })
    return { id }
  },
)

/** Renames a scenario, replaces its request, or both. */
export const changeScenario = permitted(
  'keep scenarios',
  async (
    installation,
    act: EnvironmentAct,
    { id, name, request }: { id: string; name?: string | undefined; request?: object | undefined },
  ) => {
    const text = request === undefined ? null : scenarioText(request)
    const { organizationId } = act
    const context = contextOf(installation, act)
    const next = { id, name: name?.trim() ?? null, request: text, saved_by: actorOf(act).id, saved_at: context.now }
    const changed = (['name', 'request'] as const).filter((column) => next[column] !== null)
    const entry = auditEntryRow(context, {
      type: 'scenario.changed',
      trailId: id,
      subject: { type: 'scenario', id },
      data: { scenario_id: id, changed },
    })
    const change = { organizationId, changedScenarios: [next], auditEntries: [entry] }
    await commit(installation, act, { change, name: name ?? '' })
    return { id }
  },
)

/** Removes a scenario. */
export const removeScenario = permitted('keep scenarios', async (installation, act: EnvironmentAct, id: string) => {
  const { organizationId } = act
  const entry = auditEntryRow(contextOf(installation, act), {
    type: 'scenario.removed',
    trailId: id,
    subject: { type: 'scenario', id },
    data: { scenario_id: id },
  })
  const change = { organizationId, removedScenarios: [{ id }], auditEntries: [entry] }
  await commit(installation, act, { change, name: '' })
  return { id }
})

/** Writes a change. */
async function commit(
  installation: Installation,
  { environment }: EnvironmentAct,
  { change, name }: { change: Change; name: string },
): Promise<void> {
  try {
    if (!(await commitUnlessForestalled(installation.stores[environment], change)))
      throw notFound('scenario_not_found', 'There is no such scenario in this environment.')
  } catch (error) {
    if (error instanceof DatabaseError && error.isUniqueViolation)
      throw conflict('name_taken', `There is a scenario named “${name.trim()}” already.`)
    throw error
  }
}

/** A request as it is stored. */
function scenarioText(request: object): string {
  const text = JSON.stringify(request)
  if (text.length > REQUEST_CHARACTERS_MAX)
    throw invalid('scenario_too_long', `A scenario has at most ${REQUEST_CHARACTERS_MAX} characters.`)
  return text
}
