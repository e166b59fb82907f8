/**
 * A stored decision whose documents are gone, or were altered so that they cannot be read. A retry never makes another decision
 * in its place, because the first answer may have been acted on.
 */
export class UnreadableDecision extends Error {
  override name = 'UnreadableDecision'
}
