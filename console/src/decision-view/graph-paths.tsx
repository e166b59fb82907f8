import { IconAlertOctagon, IconArrowRight, IconBuildingStore, IconUser } from '@tabler/icons-react'
import { entityName } from '../components/entity-name.ts'
import { PageLink } from '../components/page-link.tsx'
import { writePercent } from '../components/write-number.ts'
import classes from './decision-view.module.css'
import { FoldSection } from './fold-section.tsx'
import type { ViewData } from './view-data.ts'
import { writeDecimal } from './write-feature.ts'

type Named = ViewData['entity']

/** The paths of the trust graph over which bad outcomes of others reach the applicant. */
export function GraphPaths({ view }: { view: ViewData }) {
  const { negative_exposure: exposure, paths } = view.graph
  return (
    <FoldSection
      title="Graph paths"
      sub={exposure === null ? 'not looked at' : `${paths.length} to bad outcomes, exposure ${writePercent(exposure)}`}
    >
      {paths.length === 0 ? (
        <p className="dim">
          {exposure === null
            ? 'The trust graph was not available to this decision.'
            : 'No bad outcome of another entity reaches the applicant.'}
        </p>
      ) : (
        <ul className={classes.paths}>
          {paths.map(({ entity, edges, strength, share, uses_payments }) => (
            <li key={entity.id}>
              <Node entity={view.entity} says="this applicant" />
              <span className={classes.edge}>
                <b>{edges.map((edge) => edge.replaceAll('_', ' ')).join(' → ')}</b>
                <IconArrowRight size={18} stroke={1.5} aria-hidden="true" />
                <span>
                  {writeDecimal(strength)}
                  {uses_payments && ', with payments'}
                </span>
              </span>
              <Node entity={entity} says={`bad outcome, ${writePercent(share)} of the exposure`} isBad />
            </li>
          ))}
        </ul>
      )}
    </FoldSection>
  )
}

function Node({ entity, says, isBad = false }: { entity: Named; says: string; isBad?: boolean }) {
  const Icon = isBad ? IconAlertOctagon : entity.type === 'person' ? IconUser : IconBuildingStore
  return (
    <span className={classes.node} data-bad={isBad || undefined}>
      <Icon size={18} stroke={1.75} aria-hidden="true" />
      <span>
        <PageLink to={`entities/${entity.id}`}>{entityName(entity)}</PageLink>
        <span className="small">{says}</span>
      </span>
    </span>
  )
}
