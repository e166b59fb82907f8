/** What an entity is called: its name, the id that the organization gave it, or else its own id. */
export function entityName({ id, name, external_id }: { id: string; name: string | null; external_id: string | null }) {
  return name ?? external_id ?? id
}
