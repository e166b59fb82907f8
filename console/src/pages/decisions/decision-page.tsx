import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { setCrumbs } from '../../components/crumbs.ts'
import { DecisionView } from '../../decision-view/decision-view.tsx'

/** The page of one decision. */
export function DecisionPage() {
  const { decisionId = '' } = useParams({ strict: false }) as { decisionId?: string }
  useEffect(() => {
    setCrumbs({ title: decisionId, parent: { title: 'Decisions', path: 'decisions' } })
    document.title = `${decisionId} · Verdigraph`
  }, [decisionId])
  return (
    <>
      <h1 className="visually-hidden">Decision {decisionId}</h1>
      <DecisionView decisionId={decisionId} />
    </>
  )
}
