import { Button } from '@mantine/core'
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { DecisionView } from '../../decision-view/decision-view.tsx'
import classes from './review-queue.module.css'

/** The decision view of the decision that a case is about, for reviewers whom the summary does not tell enough. */
export function WholeDecision({ decisionId }: { decisionId: string }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <div className={classes.block}>
      <Button
        variant="default"
        size="xs"
        aria-expanded={isOpen}
        aria-controls={id}
        rightSection={isOpen ? <IconChevronUp size={14} /> : <IconChevronDown size={14} />}
        onClick={() => setOpen((current) => !current)}
      >
        Whole decision
      </Button>
      <div id={id} className={classes.whole} hidden={!isOpen}>
        {isOpen && <DecisionView decisionId={decisionId} />}
      </div>
    </div>
  )
}
