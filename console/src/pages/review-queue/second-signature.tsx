import { Button } from '@mantine/core'
import { IconSignature } from '@tabler/icons-react'
import { useState } from 'react'
import { useAct } from '../../api/use-operation.ts'
import { FormError } from '../../components/form-error.tsx'
import { Banner } from '../../components/state-badge.tsx'
import { Time } from '../../components/time.tsx'
import { Verdict } from '../../components/verdict.tsx'
import { writeMoney } from '../../components/write-number.ts'
import { AskReason } from '../../drafts/ask-reason.tsx'
import type { ShownCase } from './review-case.ts'
import classes from './review-queue.module.css'
import { namesOf, signWords, whoSigns } from './signatures.ts'

/** A case that one person has signed: what they decided, to read only, and what the one who looks at it can do. */
export function SecondSignature({
  shown,
  signature,
  signed,
  me,
  onDecided,
}: {
  shown: ShownCase
  signature: NonNullable<ShownCase['signature']>
  signed: NonNullable<ShownCase['signed']>
  me: string | undefined
  onDecided: () => void
}) {
  const [isAsked, setAsked] = useState(false)
  const which = { id: shown.id, signature_id: signature.id }
  const isOwn = signature.by_id === me
  const able = whoSigns(shown, signed, signature.by_id)
  const maySign = able.some(({ id }) => id === me)
  const sign = useAct('cases.sign', {
    showsErrors: true,
    says: `Signed: ${shown.entity.name} is decided.`,
    onDone: onDecided,
  })
  const back = useAct('cases.send-back', {
    says: isOwn ? 'Your signature is taken back.' : `Sent back to ${signature.by}.`,
    onDone: () => setAsked(false),
  })
  return (
    <section className={classes.decide} aria-label="Second signature">
      <Banner tone="warn" icon={<IconSignature size={16} stroke={1.75} />}>
        <b>{isOwn ? 'You signed first' : `${signature.by} signed first`}</b>, <Time at={signed.at} as="relative" />.{' '}
        {isOwn || !maySign ? `It waits for ${namesOf(able)}.` : 'Nothing is recorded until you sign the same.'}
      </Banner>
      <SignedVerdicts signed={signed} />
      <FormError error={sign.error} />
      <div className={classes.decideEnd}>
        <Button variant="default" onClick={() => setAsked(true)}>
          {isOwn ? 'Take it back…' : 'Send back…'}
        </Button>
        {maySign && (
          <Button loading={sign.isPending} onClick={() => sign.mutate(which)}>
            {signWords(signed)}
          </Button>
        )}
      </div>
      <AskReason
        opened={isAsked}
        title={isOwn ? 'Take your signature back' : 'Send the case back'}
        onClose={() => setAsked(false)}
        explanation={
          isOwn
            ? 'The case is yours again, and nothing is recorded of your verdicts. The reason becomes a note of the case.'
            : `${signature.by} gets the case again, with the reason as a note. The signature counts no more.`
        }
        act={isOwn ? 'Take back' : 'Send back'}
        about={`send back ${signature.id}`}
        sending={back}
        onConfirm={(reason, draft) => back.mutate({ ...which, reason }, { draft })}
      />
    </section>
  )
}

function SignedVerdicts({ signed: { verdicts, reason } }: { signed: NonNullable<ShownCase['signed']> }) {
  return (
    <>
      {verdicts.map(({ decision_id, verdict, limit, conditions }) => (
        <div key={decision_id} className={classes.ended}>
          <div className={classes.endedWho}>
            <Verdict verdict={verdict} />
            {limit && <b className="num">{writeMoney(limit.amount, limit.currency)}</b>}
          </div>
          {conditions.length > 0 && (
            <ul>
              {conditions.map((condition) => (
                <li key={condition}>{condition}</li>
              ))}
            </ul>
          )}
        </div>
      ))}
      <p>{reason}</p>
    </>
  )
}
