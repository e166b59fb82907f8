import { Button, Loader } from '@mantine/core'
import { IconCheck, IconClock, IconShieldCheck, IconShieldX, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { usePermission } from '../api/use-me.ts'
import { usePlace } from '../api/use-place.ts'
import { NotVisible } from '../components/not-visible.tsx'
import { StateBadge } from '../components/state-badge.tsx'
import classes from './decision-view.module.css'
import { FoldSection } from './fold-section.tsx'
import { type ProofCheck, verifyProof } from './verify-proof.ts'

/** An entry waits for its seal at most five seconds; the page asks again until then. */
const ASK_AGAIN_MS = 1_500

/** Whether the decision is on the signed log. The proof is over the whole stored texts, so it takes a role that sees them. */
export function InclusionProof({ decisionId }: { decisionId: string }) {
  if (usePermission('see free text')) return <CheckedProof decisionId={decisionId} />
  return (
    <FoldSection title="Audit proof">
      <NotVisible />
    </FoldSection>
  )
}

/** The proof, as this browser computed it. */
function CheckedProof({ decisionId }: { decisionId: string }) {
  const place = usePlace()
  const proof = useQuery({
    queryKey: [place.organizationId, place.environment, 'proof', decisionId],
    queryFn: async () => {
      // Outside of https and localhost, browsers hand out no cryptography.
      if (!globalThis.crypto?.subtle) return null
      return verifyProof(await call(place, 'decisions.prove', { id: decisionId }))
    },
    refetchInterval: ({ state }) => (state.data?.some(({ holds }) => holds === null) ? ASK_AGAIN_MS : false),
  })
  const checks = proof.data
  return (
    <FoldSection
      title="Audit proof"
      end={<ProofBadge checks={checks} error={proof.error} />}
      footer={
        <>
          <span>Computed here from the stored texts and the public key; the server’s word was not needed.</span>
          <Button variant="default" size="compact-xs" loading={proof.isFetching} onClick={() => void proof.refetch()}>
            Check again
          </Button>
        </>
      }
    >
      {checks ? (
        <ul className={classes.checks}>
          {checks.map((check) => (
            <li key={check.name} data-bad={check.holds === false || undefined}>
              {check.holds === null ? (
                <IconClock size={16} />
              ) : check.holds ? (
                <IconCheck size={16} />
              ) : (
                <IconX size={16} />
              )}
              <span>
                {check.name}
                {check.holds === false && <b>: does not hold</b>}
              </span>
              <code>{check.detail}</code>
            </li>
          ))}
        </ul>
      ) : (
        <p className="dim">
          {checks === null
            ? 'This browser offers its cryptography only under https or localhost, so nothing was checked. docs/audit-log.md says how to check it elsewhere.'
            : (proof.error?.message ?? 'Checking…')}
        </p>
      )}
    </FoldSection>
  )
}

function ProofBadge({ checks, error }: { checks: ProofCheck[] | null | undefined; error: Error | null }) {
  if (error) return <StateBadge tone="warn">Not checked</StateBadge>
  if (checks === undefined) return <Loader size={14} aria-label="Checking the proof" />
  if (checks === null) return <StateBadge tone="warn">Not checked</StateBadge>
  if (checks.some(({ holds }) => holds === false))
    return (
      <StateBadge tone="bad" icon={<IconShieldX size={13} />}>
        Does not verify
      </StateBadge>
    )
  if (checks.some(({ holds }) => holds === null))
    return (
      <StateBadge tone="neutral" icon={<IconClock size={13} />}>
        Waits for its seal
      </StateBadge>
    )
  return (
    <StateBadge tone="ok" icon={<IconShieldCheck size={13} />}>
      Verified in this browser
    </StateBadge>
  )
}
