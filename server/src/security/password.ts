import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Turns } from './turns.ts'

const derive = promisify(argon2)

/** Two at once: Node has four threads for hashing, files and names, and the event loop needs a core. */
const hashing = new Turns(2)

/** OWASP's first choice for Argon2id: 19 MiB, two passes, one lane. About 80 ms on one core of a small machine. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
/** New passwords share one turn: setting one takes an invitation, a link or a session. */
const NEW_PASSWORDS = 'new passwords'
const TAG_BYTES = 32

const FORMAT = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** Hashes a password for storage, with Argon2id and a random salt, in the PHC string format. */
export async function hashPassword(password: string, parameters = PARAMETERS): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await hashing.run(NEW_PASSWORDS, () => tagOf(password, { ...parameters, salt, tagLength: TAG_BYTES }))
  const { memory, passes, parallelism } = parameters
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`
}

/**
 * Whether this is the password of a stored hash. Without a hash it takes as long, and the answer is no. Clients take
 * turns, so that one with many attempts under way delays another by one attempt.
 */
export async function isPassword(
  password: string,
  stored: string | null | undefined,
  client: string,
): Promise<boolean> {
  const match = FORMAT.exec(stored ?? '')
  const [, memory = PARAMETERS.memory, passes = PARAMETERS.passes, parallelism = PARAMETERS.parallelism] = match ?? []
  const salt = match ? Buffer.from(match[4]!, 'base64') : Buffer.alloc(SALT_BYTES)
  const expected = match ? Buffer.from(match[5]!, 'base64') : Buffer.alloc(TAG_BYTES)
  const options = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism), salt }
  const tag = await hashing.run(client, () => tagOf(password, { ...options, tagLength: expected.length }))
  return timingSafeEqual(tag, expected) && match !== null
}

interface TagOptions {
  memory: number
  passes: number
  parallelism: number
  salt: Buffer
  tagLength: number
}

/** Composed form (NFKC), so that an accent typed on another keyboard is the same password (NIST SP 800-63B, 3.1.1.2). */
function tagOf(password: string, { salt, ...options }: TagOptions): Promise<Buffer> {
  return derive('argon2id', { message: Buffer.from(password.normalize('NFKC')), nonce: salt, ...options })
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
