/** The command line in the process of the test: starting a process for each call would take most of the time of a test. */
import assert from 'node:assert/strict'
import { runCommandLine } from '../src/cli/run-command-line.ts'

/** What a command printed, and its exit code. */
export interface CommandResult {
  status: number
  stdout: string
  stderr: string
}

/** Runs a command with these settings to its end. */
export async function call(env: Record<string, string>, ...args: string[]): Promise<CommandResult> {
  const result = { status: 0, stdout: '', stderr: '' }
  result.status = await runCommandLine(args, {
    env,
    print(text) {
      result.stdout += `${text}\n`
    },
    printError(text) {
      result.stderr += `${text}\n`
    },
  })
  return result
}

/** Runs a command that has to succeed, and returns its JSON output. */
// biome-ignore lint/suspicious/noExplicitAny: each command has its own output.
export async function callForJson(env: Record<string, string>, ...args: string[]): Promise<any> {
  const { status, stdout, stderr } = await call(env, ...args, '--json')
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}${stdout}`)
  return JSON.parse(stdout)
}
