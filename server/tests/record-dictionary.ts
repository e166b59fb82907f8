/**
 * Writes the dictionary that segments of documents are compressed with: what made-up applicants were answered, and why.
 *
 *     node bin/run-on-node-24.cjs server/tests/record-dictionary.ts 1
 *
 * Stored segments can only be read with the dictionary that they were packed with, so one that a release has used never changes: a
 * new one gets the next number.
 */
import { writeFileSync } from 'node:fs'
import { constants, zstdCompressSync } from 'node:zlib'
import { dictionaryFile } from '../src/store/documents/dictionary.ts'
import { DOCUMENTS } from '../src/store/documents/segment.ts'
import { storedDocuments } from './alter-documents.ts'
import { personas } from './personas.ts'
import { startTestService } from './test-service.ts'

/** Documents that the others give in so few bytes add nothing. */
const KNOWN_BYTES = 600

/** What each applicant is answered for a small and for a large amount, as segments hold it. */
async function decideAboutApplicants(): Promise<string[]> {
  const api = await startTestService()
  const acme = await api.newOrganization()
  const database = api.service.installation.storage.environments.sandbox
  let keys = 0
  const idempotent = () => ({ 'Idempotency-Key': `key-${keys++}` })

  const texts: string[] = []
  for (const persona of personas(new Date().toISOString()).filter(({ associate }) => associate === undefined)) {
    const { body: entity } = await acme.post('/v1/entities', persona.entity)
    const at = (path: string, body: object) => acme.post(`/v1/entities/${entity.id}/${path}`, body, idempotent())
    for (const link of persona.identityLinks) await at('identity-links', link)
    for (const consent of persona.consents) await at('consents', consent)
    if (persona.transactions.length > 0) await at('transactions', { transactions: persona.transactions })
    for (const requested_amount of [1_000, 20_000]) {
      const request = { entity_id: entity.id, product: 'personal_loan', requested_amount, currency: 'EUR' }
      const { body: decision } = await acme.post('/v1/underwrite', request, idempotent())
      const documents = await storedDocuments(database, decision.id)
      texts.push(DOCUMENTS.map((name) => documents[name]).join(''))
    }
  }
  await api.service.close()
  return texts
}

const number = Number(process.argv[2])
const texts = await decideAboutApplicants()
let dictionary = Buffer.alloc(0)
for (const text of texts) {
  const params = { [constants.ZSTD_c_compressionLevel]: 9 }
  if (zstdCompressSync(text, { params, dictionary }).length > KNOWN_BYTES)
    dictionary = Buffer.concat([dictionary, Buffer.from(text)])
}
writeFileSync(dictionaryFile(number), dictionary)
console.log(`${dictionary.length} bytes of ${texts.length} decisions`)
