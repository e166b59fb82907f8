// Receives Verdigraph webhooks: verifies the signature, answers at once, ignores repetitions, then handles the event.
// WEBHOOK_SECRET=whsec_… PORT=9000 node webhook-receiver.js      (npm install standardwebhooks)
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)
const seen = new Set() // In production: a table with a unique key, written in the transaction that handles the event.

const server = createServer(async (request, response) => {
  const body = await text(request) // The raw body: JSON that was parsed and serialized again would not verify.
  let event
  try {
    event = webhook.verify(body, request.headers) // Also refuses timestamps older than five minutes.
  } catch {
    response.writeHead(400).end('not signed by Verdigraph')
    return
  }
  response.writeHead(204).end() // Before handling the event: the sender waits 15 seconds at most.
  if (seen.has(event.id)) return // Delivery is at least once, so an event may arrive twice.
  seen.add(event.id)
  handle(event)
})

function handle({ type, data }) {
  if (type === 'decision.created') console.log(`decision ${data.decision_id}: ${data.verdict}`)
  else console.log(`${type} ${JSON.stringify(data)}`)
}

server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
