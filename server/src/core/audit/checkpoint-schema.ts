import { Open, Sha256, Timestamp } from '../schema/fields.ts'
import { Type } from '../schema/type.ts'

/** The schema of a signed head, as the API and the `audit.checkpoint` event show it. */
export const Checkpoint = Open(
  {
    tree_size: Type.Integer({ minimum: 0, description: 'How many leaves the tree has.' }),
    root_hash: Sha256('Root of the RFC 9162 tree over them.'),
    signed_at: Timestamp('When the head was signed.'),
    key_id: Type.String({ description: 'Which key signed it.' }),
    signature: Type.String({ description: 'Ed25519, in hexadecimal.' }),
  },
  { title: 'Checkpoint', description: 'A signed head of the organization’s audit log.' },
)
