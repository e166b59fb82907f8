/** The smallest service that answers with a decision: Fastify and PGlite with one table. `node bare-service.ts <folder> [prepared]` */
import { PGlite } from '@electric-sql/pglite'
import { dataDir as pack } from '@electric-sql/pglite-prepopulatedfs'
import { fastify } from 'fastify'

const [, , dataDir, prepared] = process.argv
const database = await PGlite.create({ dataDir: dataDir!, ...(prepared && { loadDataDir: await pack() }) })
await database.exec('CREATE TABLE IF NOT EXISTS decisions (id text PRIMARY KEY, body text NOT NULL)')

const app = fastify()
app.post<{ Body: { id: string } }>('/decisions', async ({ body }, reply) => {
  const decision = { id: body.id, verdict: 'approve' }
  await database.query('INSERT INTO decisions (id, body) VALUES ($1, $2)', [decision.id, JSON.stringify(decision)])
  return reply.code(201).send(decision)
})
process.once('SIGTERM', async () => {
  await app.close()
  await database.close()
  process.exit(0)
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`ready on ${url}\n`)
