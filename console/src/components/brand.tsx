/** The mark of Verdigraph: three nodes of a graph in the shape of a V. */
export function BrandMark({ size = 24 }: { size?: number }) {
  return (
    <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
      <rect width="24" height="24" rx="6" fill="var(--accent)" />
      <path
        d="M6 7.5l6 9.5 6-9.5"
        fill="none"
        stroke="#fff"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      <circle cx="6" cy="7.2" r="2" fill="#fff" />
      <circle cx="18" cy="7.2" r="2" fill="#a8dacd" />
      <circle cx="12" cy="17" r="2" fill="#fff" />
    </svg>
  )
}
