/**
 * The time of a change of an entity: now, or a millisecond after the change before it, if that was dated by a clock that
 * is ahead. So the facts of an entity are dated in the order in which the database recorded them.
 */
export function timeOfChange({ updated_at }: { updated_at: string }, now: string): string {
  return now > updated_at ? now : new Date(Date.parse(updated_at) + 1).toISOString()
}
