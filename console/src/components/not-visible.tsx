/** What stands where the role of the person who looks does not show something, so that it is not taken for missing. */
export function NotVisible() {
  return <p className="dim">Not visible to your role.</p>
}
