/** What an entity is called: its name, the id that the organization gave it, or else its own id. */
export function entityName(known: { name: string | null; external_id: string } | undefined, id: string): string {
  return known?.name ?? known?.external_id ?? id
}
