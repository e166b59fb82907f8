import { Button, Skeleton, Tabs } from '@mantine/core'
import { IconDownload, IconFlask, IconPencil } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { usePermission } from '../../api/use-me.ts'
import { useOperation } from '../../api/use-operation.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { download } from '../../components/download.ts'
import { Failed } from '../../components/failed.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PageLink } from '../../components/page-link.tsx'
import type { SearchOf } from '../../components/page-search.ts'
import { Section } from '../../components/section.tsx'
import { Banner } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { BacktestTab, useBacktests } from './backtest-tab.tsx'
import { BacktestView } from './backtest-view.tsx'
import { CalibrationTab } from './calibration-view.tsx'
import { OwnTests } from './own-tests.tsx'
import classes from './policies.module.css'
import type { BacktestResult, ShownPolicy } from './policy.ts'
import { PolicyAside } from './policy-aside.tsx'
import { PolicyState } from './policy-state.tsx'
import { ReadablePolicy } from './readable-policy.tsx'
import { UnmatchedOf } from './unmatched-rules.tsx'
import { WhatChanges } from './what-changes.tsx'

const PARENT = { title: 'Policies', path: 'policies' } as const
const YamlEditor = lazy(() => import('./yaml-editor.tsx'))

/** The page of one version of the policy: what it changes and would have decided, and the steps that people take on it. */
export function PolicyPage() {
  const { version = '' } = useParams({ strict: false }) as { version?: string }
  const query = useOperation('policies.show', { version }, { refetchIntervalMs: 15_000 })
  if (query.data && query.data.policy.version === version) return <PolicyView shown={query.data} />
  return (
    <>
      <PageHeader title={version} parent={PARENT} />
      {query.error ? <Failed error={query.error} onRetry={query.refetch} /> : <Skeleton height={320} />}
    </>
  )
}

/** The policy in words, and which of its rules and rows of tables matched nothing. */
function PolicyAsPage({ shown, backtest }: { shown: ShownPolicy; backtest: BacktestResult | undefined }) {
  return (
    <div className={classes.column}>
      <ReadablePolicy document={shown.document} {...(backtest && { rules: backtest.rules })} />
      <UnmatchedOf source={shown.source} backtest={backtest} />
    </div>
  )
}

function PolicyView({ shown }: { shown: ShownPolicy }) {
  const { policy, source, compared, tests, unusable_because } = shown
  const [search, setSearch] = usePageSearch('policies/$version')
  const { query, newest } = useBacktests(policy.version)
  const result = useOperation('policy-backtests.show', { id: newest ?? '' }, { enabled: newest !== undefined })
  const backtest = newest === undefined ? undefined : result.data?.result
  return (
    <>
      <PageHeader
        title={policy.version}
        parent={PARENT}
        badge={<PolicyState state={policy.state} />}
        below={<Below shown={shown} />}
      >
        <PolicyButtons shown={shown} />
      </PageHeader>
      {unusable_because && (
        <Banner tone="bad">
          <p>This version cannot decide. {unusable_because} Propose it under a new version.</p>
        </Banner>
      )}
      <Tabs
        value={search.tab ?? 'proposal'}
        onChange={(tab) => setSearch({ tab: tab as SearchOf<'policies/$version'>['tab'] })}
        keepMounted={false}
      >
        <TabList shown={shown} />
        <div className={classes.layout}>
          <div className={classes.column}>
            <Tabs.Panel value="proposal">
              <div className={classes.column}>
                <WhatChanges compared={compared} />
                {backtest ? <BacktestView result={backtest} /> : <NoBacktest isLoading={query.isPending} />}
                <OwnTests tests={tests} coverage={shown.coverage} />
              </div>
            </Tabs.Panel>
            <Tabs.Panel value="page">
              <PolicyAsPage shown={shown} backtest={backtest} />
            </Tabs.Panel>
            <Tabs.Panel value="yaml">
              <TextSection text={source} label={`The text of ${policy.version}`} />
            </Tabs.Panel>
            {compared && (
              <Tabs.Panel value="diff">
                <TextSection text={source} base={compared.source} label={`${compared.version} and ${policy.version}`} />
              </Tabs.Panel>
            )}
            <Tabs.Panel value="tests">
              <OwnTests tests={tests} coverage={shown.coverage} />
            </Tabs.Panel>
            <Tabs.Panel value="backtest">
              <BacktestTab version={policy.version} />
            </Tabs.Panel>
            <Tabs.Panel value="calibration">
              <div className={classes.column}>
                <CalibrationTab version={policy.version} />
              </div>
            </Tabs.Panel>
          </div>
          <PolicyAside
            shown={shown}
            backtestId={query.data ? (newest ?? null) : undefined}
            brokenLimits={backtest?.limits.filter(({ is_kept }) => !is_kept).length ?? 0}
          />
        </div>
      </Tabs>
    </>
  )
}

function TabList({ shown: { compared, tests } }: { shown: ShownPolicy }) {
  return (
    <Tabs.List>
      <Tabs.Tab value="proposal">Proposal</Tabs.Tab>
      <Tabs.Tab value="page">Policy as a page</Tabs.Tab>
      <Tabs.Tab value="yaml">YAML</Tabs.Tab>
      {compared && <Tabs.Tab value="diff">Text diff</Tabs.Tab>}
      <Tabs.Tab value="tests">Tests {tests.length}</Tabs.Tab>
      <Tabs.Tab value="backtest">Backtest</Tabs.Tab>
      <Tabs.Tab value="calibration">Calibration</Tabs.Tab>
    </Tabs.List>
  )
}

function Below({ shown: { policy, compared } }: { shown: ShownPolicy }) {
  return (
    <span className={classes.below}>
      {compared && <span>{capitalized(compared.summary)}.</span>}
      <span>
        Proposed by {policy.author}, <Time at={policy.created_at} as="relative" />, checksum
      </span>
      <CopyableId id={policy.checksum} short />
    </span>
  )
}

function PolicyButtons({ shown: { policy, source, unusable_because } }: { shown: ShownPolicy }) {
  const canPropose = usePermission('propose policies')
  return (
    <>
      {!unusable_because && (
        <Button
          component={PageLink}
          to="playground"
          search={{ a: policy.version }}
          variant="default"
          leftSection={<IconFlask size={16} stroke={1.75} />}
        >
          Try in playground
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<IconDownload size={16} stroke={1.75} />}
        onClick={() => download(`${policy.version}.yaml`, source, 'application/yaml')}
      >
        YAML
      </Button>
      {canPropose && (
        <Button
          component={PageLink}
          to="policies/new"
          search={{ from: policy.version }}
          variant="default"
          leftSection={<IconPencil size={16} stroke={1.75} />}
        >
          Edit as a new version
        </Button>
      )}
    </>
  )
}

function NoBacktest({ isLoading }: { isLoading: boolean }) {
  const [, setSearch] = usePageSearch('policies/$version')
  if (isLoading) return <Skeleton height={120} />
  return (
    <Section title="Backtest">
      <p className="secondary">What would it have decided? Nothing has been decided again under it yet.</p>
      <Button mt={12} variant="default" onClick={() => setSearch({ tab: 'backtest' })}>
        Open the backtest
      </Button>
    </Section>
  )
}

function TextSection(editor: { text: string; label: string; base?: string }) {
  return (
    <Section flush>
      <Suspense fallback={<Skeleton height={480} />}>
        <YamlEditor {...editor} />
      </Suspense>
    </Section>
  )
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
