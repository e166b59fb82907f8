/** A feature by what it is, and below it the code under which policies and the API name it. */
export function FeatureName({ label, feature }: { label: string | null; feature: string }) {
  if (label === null || label === feature) return <code>{feature}</code>
  return (
    <>
      {label}
      <div className="small dim">
        <code>{feature}</code>
      </div>
    </>
  )
}
