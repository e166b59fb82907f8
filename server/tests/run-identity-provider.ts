/**
 * Runs the OpenID Connect provider of the tests as a process of its own. The argument has the clients and the people as
 * JSON; it prints its issuer, and ends with SIGTERM or when the process that started it closes the standard input.
 */
import { type Person, type RegisteredClient, startIdentityProvider } from './identity-provider.ts'

const { clients, people } = JSON.parse(process.argv[2]!) as { clients: RegisteredClient[]; people: Person[] }
const provider = await startIdentityProvider(() => clients)
for (const person of people) provider.people.set(person.sub, person)
const end = () => void provider.close().then(() => process.exit(0))
process.once('SIGTERM', end)
process.stdin.on('end', end).resume()
console.log(provider.issuer)
