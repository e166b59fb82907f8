/** Says below a list that one call looks at a bounded number of rows, and that more may match. */
export function SearchEnded({ rows }: { rows: string }) {
  return (
    <p className="dim small" style={{ padding: '10px 16px', borderTop: '1px solid var(--line)' }}>
      The search stopped here to stay quick. Older {rows} may match: load more to search further back.
    </p>
  )
}
