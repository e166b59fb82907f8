/** The OpenID Connect provider in a process of its own, as an installation finds it: only HTTP connects the two. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Person, RegisteredClient } from './identity-provider.ts'

/** A provider that runs; `stop` ends its process. */
export interface ProviderProcess {
  issuer: string
  pid: number
  stop(): Promise<void>
}

/** Starts the provider with its clients and people, and waits until it listens. */
export async function startProviderProcess(known: {
  clients: RegisteredClient[]
  people: Person[]
}): Promise<ProviderProcess> {
  const script = join(import.meta.dirname, 'run-identity-provider.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(known)], { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const issuer = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        output += data
        const printed = /^http:\/\/127\.0\.0\.1:\d+$/m.exec(output)
        if (printed) resolve(printed[0])
      })
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`the provider ended with ${code}:\n${output}`)))
  })
  return {
    issuer,
    pid: child.pid!,
    stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}
