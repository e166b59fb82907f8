// A receiver of Verdigraph webhooks: verifies, ignores repetitions, answers at once, works afterwards.
// WEBHOOK_SECRET=whsec_… PORT=9000 node webhook-receiver.js      (npm install standardwebhooks)
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)
const seen = new Set() // In earnest: a table with a unique key, written together with what the event sets off.

const server = createServer(async (request, response) => {
  const body = await text(request) // The bytes as they came: parsed and written again, they would not verify.
  let event
  try {
    event = webhook.verify(body, request.headers) // Also refuses what was signed more than five minutes ago.
  } catch {
    response.writeHead(400).end('not signed by Verdigraph')
    return
  }
  response.writeHead(204).end() // Within 15 seconds, so before the work.
  if (seen.has(event.id)) return // Delivered at least once means: sometimes twice.
  seen.add(event.id)
  handle(event)
})

function handle({ type, data }) {
  if (type === 'decision.created') console.log(`decision ${data.decision_id}: ${data.verdict}`)
  else console.log(`${type} ${JSON.stringify(data)}`)
}

server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
