import { Skeleton } from '@mantine/core'
import { useOperation } from '../api/use-operation.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { Failed } from '../components/failed.tsx'
import { AccountChart } from './account-chart.tsx'
import { ReasonList, SettledSteps } from './answer.tsx'
import classes from './decision-view.module.css'
import { FeaturesTable } from './features-table.tsx'
import { FoldSection } from './fold-section.tsx'
import { GraphPaths } from './graph-paths.tsx'
import { InclusionProof } from './inclusion-proof.tsx'
import { LimitTerms } from './limit-terms.tsx'
import { OfferTable } from './offer-table.tsx'
import { ReplayDifferences } from './replay-result.tsx'
import { RuleTrace } from './rule-trace.tsx'
import { Since } from './since.tsx'
import { VerdictHeader } from './verdict-header.tsx'
import type { ShownDecision, ViewData } from './view-data.ts'
import { Waterfall } from './waterfall.tsx'

/**
 * The decision view, the same in Decisions, in the review queue and in the playground. It shows a recorded decision by its id,
 * or a dry run that was never recorded; it takes the width that it is given, in one or two columns.
 */
export function DecisionView(props: { decisionId: string } | { dryRun: ViewData; says?: string }) {
  if ('decisionId' in props) return <RecordedView decisionId={props.decisionId} />
  return (
    <div className={classes.view}>
      <VerdictHeader view={props.dryRun} {...(props.says && { says: props.says })} />
      <Evidence view={props.dryRun} />
    </div>
  )
}

function RecordedView({ decisionId }: { decisionId: string }) {
  const query = useOperation('decisions.show', { id: decisionId })
  const shown = query.data?.id === decisionId ? query.data : undefined
  if (query.error && !shown) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  if (!shown) return <ViewSkeleton />
  return (
    <div className={classes.view}>
      <VerdictHeader view={shown.view} shown={shown} />
      <ReplayDifferences replay={shown.replay} />
      <Evidence view={shown.view} shown={shown} />
    </div>
  )
}

/** Answer, then evidence: the wide column has the tables, the narrow one what follows from them. */
function Evidence({ view, shown }: { view: ViewData; shown?: ShownDecision }) {
  return (
    <>
      <SettledSteps view={view} />
      <div className={classes.columns}>
        <div className={classes.column}>
          <Waterfall view={view} />
          <RuleTrace view={view} />
          <FeaturesTable view={view} />
          <AccountChart view={view} />
          <GraphPaths view={view} />
        </div>
        <div className={classes.column}>
          <ReasonList view={view} />
          <OfferTable view={view} />
          <LimitTerms view={view} />
          {shown && <Since shown={shown} />}
          {shown && <InclusionProof decisionId={shown.id} />}
          {shown?.raw && (
            <FoldSection title="Raw JSON" sub="as the API returned it" flush>
              <div className={classes.raw} id="raw-json">
                <CodeBlock code={JSON.stringify(shown.raw, null, 2)} />
              </div>
            </FoldSection>
          )}
        </div>
      </div>
    </>
  )
}

function ViewSkeleton() {
  return (
    <div className={classes.view} aria-busy="true">
      <Skeleton height={150} radius={10} />
      <Skeleton height={120} radius={10} />
      <div className={classes.columns}>
        <Skeleton height={420} radius={10} />
        <Skeleton height={420} radius={10} />
      </div>
    </div>
  )
}
