import type { TestOrganization } from './test-service.ts'

/** Waits until every entry of an entity's trail is sealed. */
export async function trailSealed(organization: TestOrganization, entityId: string): Promise<void> {
  for (;;) {
    const { body } = await organization.get(`/v1/entities/${entityId}/audit-trail`)
    if (body.data.every(({ leaf_index }: { leaf_index: number | null }) => leaf_index !== null)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Replays a decision until its audit entry is sealed. */
export async function sealedReplay(organization: TestOrganization, id: string) {
  for (;;) {
    const answer = await organization.get(`/v1/decisions/${id}/replay`)
    if (answer.status !== 200 || answer.body.audit.leaf_index !== null) return answer
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
