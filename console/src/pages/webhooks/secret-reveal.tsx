import { Reveal } from '../../components/reveal.tsx'
import { KeyValues } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'

/** Shows a signing secret once: of a new endpoint, or after a rotation. */
export function SecretReveal({
  secret,
  isNew = false,
  previousUntil,
  onClose,
}: {
  secret: string | undefined
  isNew?: boolean
  /** Until when the previous secret signs as well; null if it ended at once. */
  previousUntil?: string | null
  onClose: () => void
}) {
  return (
    <Reveal
      secret={secret}
      title="Copy the signing secret now"
      explanation="Your receiver verifies with it that events come from here. When this closes, it is not shown again."
      consequence="Closing now means rotating the secret."
      onClose={onClose}
    >
      {!isNew && (
        <KeyValues
          rows={[
            [
              'The previous secret',
              previousUntil ? (
                <>
                  signs too until <Time at={previousUntil} />
                </>
              ) : (
                'signs no more'
              ),
            ],
          ]}
        />
      )}
    </Reveal>
  )
}
