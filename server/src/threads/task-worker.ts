/** The program of a thread of the pool: calls functions of modules, one after the other. */
import { parentPort } from 'node:worker_threads'
import type { TaskMessage, TaskRequest } from './task.ts'

const say = (message: TaskMessage) => parentPort!.postMessage(message)

parentPort!.on('message', async ({ module, name, input }: TaskRequest) => {
  try {
    const { [name]: run } = (await import(module)) as Record<string, (input: unknown) => unknown>
    // Loading a module is no part of the budget of its first task.
    say({ begins: true })
    say({ answer: run!(input) })
  } catch (error) {
    say({ error: error instanceof Error ? error : new Error(String(error)) })
  }
})
