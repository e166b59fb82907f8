/** One transaction as `POST /v1/entities/{entity_id}/transactions` takes it; `changes` replaces or adds fields. */
export function exampleTransaction(externalId: string, changes: Record<string, unknown> = {}): object {
  return {
    external_id: externalId,
    occurred_at: '2026-10-01T12:00:00Z',
    amount: 12.34,
    currency: 'EUR',
    direction: 'credit',
    ...changes,
  }
}
