import { Button, Menu, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconChevronDown, IconEyeOff, IconHistory, IconUser } from '@tabler/icons-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { usePermission } from '../../api/use-me.ts'
import { useAct, useOperation } from '../../api/use-operation.ts'
import { usePlace } from '../../api/use-place.ts'
import { CodeTabs } from '../../components/code-block.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Failed } from '../../components/failed.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useGoTo } from '../../components/page-link.tsx'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { writeLatency } from '../../components/write-number.ts'
import { DecisionView } from '../../decision-view/decision-view.tsx'
import { DraftNotice } from '../../drafts/draft-notice.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import { IN_PLAYGROUND, KEYS } from '../../shell/shortcut-tables.ts'
import { useShortcuts } from '../../shell/use-shortcuts.ts'
import { callSamples } from './call-samples.ts'
import { CompareResults } from './compare-results.tsx'
import classes from './playground.module.css'
import {
  amountOf,
  bodyOf,
  type Changes,
  changesIn,
  dryInput,
  isTermClear,
  type PlaygroundRequest,
  requestIn,
  requestOf,
  type Scenario,
  termOf,
} from './playground-request.ts'
import { RequestForm } from './request-form.tsx'
import { ScenarioMenu, ScenarioSection } from './scenario-section.tsx'
import { WhatIf } from './what-if.tsx'

/** A slider that moves asks at most this often; an answer takes about as long. */
const ASK_AFTER_MS = 40

/** The page "Playground": decides without recording, compares policies, and shows what another value would change. */
export function PlaygroundPage() {
  const [search, setSearch] = usePageSearch('playground')
  const request = requestOf(search)
  const [mode, setMode] = useState<'dry' | 'record'>('dry')
  // While the amount that was typed is not understood, the request has the one before, which must not be decided.
  const [isClear, setClear] = useState(true)
  const place = usePlace()
  const { data: start } = useOperation('playground.show', {})
  const mayRecord = usePermission('record decisions') && place.environment === 'sandbox'
  const scenarios = start?.scenarios ?? []
  const chosen = scenarios.find(({ id }) => id === search.scenario)
  const compared = scenarios.find(({ id }) => id === search.with)
  const dry = useDryRun(request, chosen)
  const record = useRecord()
  // A second policy and a second scenario would need four columns: the one that was chosen last counts.
  const change = (changes: Partial<PlaygroundRequest>) =>
    setSearch({ ...changes, ...(changes.b && { with: undefined }) })
  const run = () => {
    const { entity, product } = request
    if (!isClear || !isTermClear(request)) return
    if (mode === 'dry') dry.run()
    else record.mutate({ entity_id: entity, product, ...amountOf(request), ...termOf(request) })
  }
  useShortcuts(IN_PLAYGROUND, { [KEYS.decide]: run })
  return (
    <>
      <PageHeader title="Playground" badge={<ModeBadge mode={mode} />}>
        <LoadDecision onLoad={(decision) => change({ decision, persona: '' })} />
        <Personas names={start?.personas ?? []} onChoose={(persona) => change({ persona, decision: '' })} />
        <ScenarioMenu
          scenarios={scenarios}
          onChoose={(scenario) => {
            setSearch({ ...requestIn(scenario), scenario: scenario.id, with: undefined })
            dry.beginWith(scenario)
          }}
        />
      </PageHeader>
      <div className={classes.page}>
        <div className={classes.left}>
          <RequestForm
            request={request}
            policies={start?.policies ?? []}
            mode={mode}
            mayRecord={mayRecord}
            isRunning={dry.isFetching || record.isPending}
            isClear={isClear}
            onClear={setClear}
            onChange={change}
            onMode={setMode}
            onRun={run}
          />
          <ScenarioSection
            scenarios={scenarios}
            chosen={chosen}
            compared={compared}
            input={isClear ? dryInput(request, dry.changes) : undefined}
            onChosen={(scenario) => setSearch({ scenario, ...(scenario === search.with && { with: undefined }) })}
            onCompare={(id) => setSearch({ with: id, b: undefined })}
          />
          {isClear && <ThisCall request={request} entityId={dry.data?.entity_id} />}
        </div>
        <div className={classes.right}>
          <Results dry={dry} chosen={chosen} compared={compared} />
        </div>
      </div>
    </>
  )
}

function ModeBadge({ mode }: { mode: 'dry' | 'record' }) {
  if (mode === 'record') return <StateBadge tone="info">Recorded in the sandbox</StateBadge>
  return (
    <StateBadge tone="warn" icon={<IconEyeOff size={13} />}>
      Dry run, nothing is recorded
    </StateBadge>
  )
}

/** Runs the request of the URL as a dry run once it is asked for, and from then on whenever it or a slider changes. */
function useDryRun(request: PlaygroundRequest, scenario: Scenario | undefined) {
  const isLoaded = request.decision !== '' || request.persona !== ''
  const key = factsOf(request)
  const isOfScenario = scenario !== undefined && factsOf(requestIn(scenario)) === key
  const { draft, changes, beginWith } = useChanges(key, isOfScenario ? scenario : undefined)
  const isReady = isLoaded || isOfScenario || draft.isKept
  const [isAsked, setAsked] = useState(isReady)
  const [askedFor, setAskedFor] = useState(key)
  if (askedFor !== key) {
    setAskedFor(key)
    setAsked(isReady)
  }
  if (isOfScenario && !isAsked) setAsked(true)
  const [asked] = useDebouncedValue(changes, ASK_AFTER_MS, { leading: true })
  const input = dryInput(request, asked)
  const base = dryInput(request, {})
  const enabled = isAsked && input !== undefined
  const query = useOperation('playground.decide', input ?? {}, { enabled })
  const unchanged = useOperation('playground.decide', base ?? {}, { enabled })
  const { refetch } = query
  const run = useCallback(() => {
    if (isAsked) void refetch()
    else setAsked(true)
  }, [isAsked, refetch])
  return {
    run,
    changes,
    setChanges: (next: Changes) => draft.change({ changes: next }),
    draft,
    beginWith,
    data: enabled ? query.data : undefined,
    original: enabled ? unchanged.data?.results[0] : undefined,
    error: enabled ? query.error : null,
    isFetching: enabled && query.isPending,
  }
}

/** The values that a what-if replaces, kept in this browser for the facts that they belong to. */
function useChanges(facts: string, scenario: Scenario | undefined) {
  // Within an object, so that a reset leaves none of the values of the scenario.
  const begin = useMemo(() => ({ changes: scenario ? changesIn(scenario) : ({} as Changes) }), [scenario])
  const draft = useDraft(`what-if ${scenario?.id ?? ''} ${facts}`, begin)
  const [chosenId, setChosenId] = useState<string>()
  useEffect(() => {
    if (chosenId === undefined || scenario?.id !== chosenId) return
    setChosenId(undefined)
    draft.discard()
  })
  return { draft, changes: draft.value.changes, beginWith: ({ id }: Scenario) => setChosenId(id) }
}

/** Whose facts a request is decided from. */
function factsOf({ entity, decision, persona }: PlaygroundRequest): string {
  return JSON.stringify([entity, decision, persona])
}

function useRecord() {
  const goTo = useGoTo()
  return useAct('playground.record', {
    says: 'Recorded in the sandbox, as the API would have.',
    onDone: ({ id }) => goTo({ to: `decisions/${id}` }),
  })
}

function Results({
  dry,
  chosen,
  compared,
}: {
  dry: ReturnType<typeof useDryRun>
  chosen: Scenario | undefined
  compared: Scenario | undefined
}) {
  const beside = useOperation('playground.decide', compared?.request ?? {}, { enabled: compared !== undefined })
  if (dry.error) return <Failed error={dry.error} onRetry={dry.run} />
  const [first, second] = dry.data?.results ?? []
  if (!first)
    return (
      <Section flush>
        <EmptyState title="Nothing decided yet">
          Name an entity and press Decide, load a past decision, or start from a persona or a scenario. A dry run
          records nothing.
        </EmptyState>
      </Section>
    )
  return (
    <>
      {compared && beside.error && <Failed error={beside.error} onRetry={beside.refetch} />}
      {compared && beside.data && !beside.isPlaceholderData && (
        <CompareResults
          results={[first, beside.data.results[0]!]}
          names={[chosen?.name ?? 'This request', compared.name]}
        />
      )}
      {second && !compared && <CompareResults results={[first, second]} />}
      <DraftNotice draft={dry.draft} says="The what-if below begins with its values." />
      <WhatIf result={first} original={dry.original} changes={dry.changes} onChange={dry.setChanges} />
      <DecisionView dryRun={first.view} says={`Dry run, decided in ${writeLatency(first.took_ms)}`} />
    </>
  )
}

function ThisCall({ request, entityId }: { request: PlaygroundRequest; entityId: string | undefined }) {
  if (request.decision !== '' || request.persona !== '') return null
  const body = bodyOf(request, entityId || request.entity || 'ent_…')
  return (
    <Section title="This exact call">
      <CodeTabs samples={callSamples(body)} />
    </Section>
  )
}

function LoadDecision({ onLoad }: { onLoad: (decision: string) => void }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const id = String(new FormData(event.currentTarget).get('decision') ?? '').trim()
        if (id !== '') onLoad(id)
      }}
    >
      <TextInput
        name="decision"
        placeholder="Load a decision: dec_…"
        aria-label="Load a decision by its id"
        leftSection={<IconHistory size={15} stroke={1.75} />}
        w={220}
      />
    </form>
  )
}

function Personas({ names, onChoose }: { names: readonly string[]; onChoose: (name: string) => void }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconUser size={15} stroke={1.75} />}
          rightSection={<IconChevronDown size={14} />}
          disabled={names.length === 0}
        >
          Personas
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label="Personas" className={classes.choices}>
        <Menu.Label>Applicants of the policy’s own tests</Menu.Label>
        {names.map((name) => (
          <Menu.Item key={name} onClick={() => onChoose(name)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
