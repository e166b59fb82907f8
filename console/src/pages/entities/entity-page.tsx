import { Button, Skeleton } from '@mantine/core'
import { IconBuildingBank, IconBuildingStore, IconPlayerPlay, IconUser } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { useOperation } from '../../api/use-operation.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { Failed } from '../../components/failed.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PageLink } from '../../components/page-link.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { AccountsSection, SourcesSection } from './accounts-section.tsx'
import { CashflowSection } from './cashflow-section.tsx'
import { CreditSection } from './credit-section.tsx'
import classes from './entities.module.css'
import type { ShownEntity } from './entity.ts'
import { ConsentsSection, DecisionsSection, IdentitySection } from './entity-aside.tsx'
import { ErasureSection } from './erasure-section.tsx'
import { FeaturesSection } from './features-section.tsx'
import { MergesSection } from './merges-section.tsx'
import { NeighbourhoodSection } from './neighbourhood-section.tsx'
import { TrailSection } from './trail-section.tsx'
import { TrustSection } from './trust-section.tsx'

/** The icon of each type of entity. */
export const TYPE_ICONS = { person: IconUser, business: IconBuildingStore, institution: IconBuildingBank } as const

/** The page of one entity: its neighbourhood, trust, context, decisions and audit trail. */
export function EntityPage() {
  const { entityId } = useParams({ strict: false }) as { entityId: string }
  const query = useOperation('entities.show', { id: entityId })
  const entity = query.data?.id === entityId ? query.data : undefined
  if (query.error && !entity)
    return (
      <>
        <PageHeader title="Entity" parent={{ title: 'Entities', path: 'entities' }} />
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      </>
    )
  return (
    <>
      <PageHeader
        title={entity?.name ?? entityId}
        parent={{ title: 'Entities', path: 'entities' }}
        badge={entity && <Badges entity={entity} />}
        below={entity && <Below entity={entity} />}
      >
        <Underwrite entityId={entityId} />
      </PageHeader>
      <div className={classes.columns}>
        <div className={classes.column}>
          <NeighbourhoodSection key={entityId} entityId={entityId} />
          {entity ? <CashflowSection entity={entity} /> : <Skeleton height={240} />}
          {entity && <FeaturesSection entity={entity} />}
          <TrailSection entityId={entityId} />
        </div>
        <div className={classes.column}>
          {entity ? <TrustSection entity={entity} /> : <Skeleton height={200} />}
          {entity && <DecisionsSection entity={entity} />}
          {entity && <CreditSection entity={entity} />}
          {entity && <ConsentsSection entity={entity} />}
          {entity && <IdentitySection entity={entity} />}
          <MergesSection entityId={entityId} />
          {entity && <AccountsSection entity={entity} />}
          {entity && <SourcesSection entity={entity} />}
          <ErasureSection entityId={entityId} name={entity?.name ?? entityId} />
        </div>
      </div>
    </>
  )
}

/** Opens the playground with this entity, where a dry run shows what would be decided. */
function Underwrite({ entityId }: { entityId: string }) {
  return (
    <Button
      component={PageLink}
      to="playground"
      search={{ entity: entityId }}
      leftSection={<IconPlayerPlay size={15} stroke={1.75} />}
    >
      Underwrite
    </Button>
  )
}

function Badges({ entity: { type, country, open_case } }: { entity: ShownEntity }) {
  const Icon = type ? TYPE_ICONS[type as keyof typeof TYPE_ICONS] : undefined
  return (
    <>
      {type && <StateBadge icon={Icon && <Icon size={13} />}>{type}</StateBadge>}
      {country && <StateBadge>{country}</StateBadge>}
      {open_case && (
        <PageLink to="review-queue" search={{ case: open_case }}>
          <StateBadge tone="warn">Waits for a person</StateBadge>
        </PageLink>
      )}
    </>
  )
}

function Below({ entity: { external_id, id, created_at } }: { entity: ShownEntity }) {
  return (
    <>
      <CopyableId id={external_id} />
      <CopyableId id={id} short />
      <span>
        known since <Time at={created_at} as="date" />
      </span>
    </>
  )
}
