/** A passkey in software: signs the challenges of the console as an authenticator does (WebAuthn, section 6.3.3). */
import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto'
import { addPasskeyRow } from './people.ts'
import type { TestService } from './test-service.ts'

/** The flags of an authenticator that a person touched and unlocked. */
const PRESENT_AND_VERIFIED = 0x05

/** One passkey of an account, as the browser of its person has it. */
export class SoftwarePasskey {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #credentialId = randomBytes(16).toString('base64url')

  /** Adds the passkey to an account. */
  async enrol({ service: { installation } }: TestService, accountId: string): Promise<void> {
    await addPasskeyRow(installation, {
      id: installation.newId('pky'),
      account_id: accountId,
      credential_id: this.#credentialId,
      public_key: this.#coseKey().toString('base64url'),
      sign_count: 0,
      transports: 'internal',
      name: 'Test',
      created_at: new Date(installation.nowMs()).toISOString(),
      last_used_at: null,
    })
  }

  /** Answers a challenge on a page with this origin. */
  answer({ challenge, origin }: { challenge: string; origin: string }): object {
    const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }))
    // A counter of 0: synchronized passkeys have none.
    const authenticatorData = Buffer.concat([
      hash('sha256', new URL(origin).hostname, 'buffer'),
      Buffer.from([PRESENT_AND_VERIFIED, 0, 0, 0, 0]),
    ])
    const signed = Buffer.concat([authenticatorData, hash('sha256', clientData, 'buffer')])
    return {
      id: this.#credentialId,
      rawId: this.#credentialId,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        signature: sign('sha256', signed, this.#keys.privateKey).toString('base64url'),
      },
    }
  }

  /** An ES256 key as a CBOR map: kty EC2, alg ES256, crv P-256, x, y (RFC 9053, section 7.1). */
  #coseKey(): Buffer {
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    const coordinate = (label: number, text: string) =>
      Buffer.concat([Buffer.from([label, 0x58, 32]), Buffer.from(text, 'base64url')])
    const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01])
    return Buffer.concat([head, coordinate(0x21, x!), coordinate(0x22, y!)])
  }
}
