import { usePlace } from '../../api/use-place.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Reveal } from '../../components/reveal.tsx'
import { KeyValues } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { EnvironmentIcon, environmentName } from '../../shell/environment-switch.tsx'
import classes from './api-keys.module.css'

/** A key with its text, which the server shows only once. */
export interface RevealedKey {
  id: string
  key: string
  name: string
  scopes: readonly string[]
  expires_at: string | null
  base_url: string
  /** Of a rotation: when the old key ends. */
  retires_at?: string
}

/** Shows a new key once, with what it may do and a first call. */
export function KeyReveal({ revealed, onClose }: { revealed: RevealedKey | undefined; onClose: () => void }) {
  const { environment } = usePlace()
  return (
    <Reveal
      secret={revealed?.key}
      title="Copy your key now"
      explanation="The service keeps only a hash. When this closes, it cannot be shown again."
      consequence="Closing now means making another key."
      onClose={onClose}
    >
      {revealed && (
        <>
          <KeyValues
            rows={[
              ['Name', <b key="name">{revealed.name}</b>],
              [
                'Environment',
                <StateBadge
                  key="environment"
                  tone={environment === 'sandbox' ? 'warn' : 'neutral'}
                  icon={<EnvironmentIcon environment={environment} />}
                >
                  {environmentName(environment)}
                </StateBadge>,
              ],
              ['May', <code key="scopes">{revealed.scopes.join(' ')}</code>],
              ['Ends', <Ends key="ends" revealed={revealed} />],
              ...(revealed.retires_at
                ? [['The old key ends', <Time key="retires" at={revealed.retires_at} />] as const]
                : []),
            ]}
          />
          {revealed.scopes.includes('usage:read') && (
            <div className={classes.tryIt}>
              <div className="strong">Try it</div>
              <CodeBlock
                code={`export KEY=${revealed.key}\ncurl -s ${revealed.base_url}/v1/usage -H "Authorization: Bearer $KEY"`}
              />
            </div>
          )}
        </>
      )}
    </Reveal>
  )
}

function Ends({ revealed }: { revealed: RevealedKey }) {
  if (revealed.expires_at === null) return <>when you revoke it</>
  return (
    <>
      <Time at={revealed.expires_at} as="date" />, or when you revoke it
    </>
  )
}
