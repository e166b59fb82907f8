import type { ParseArgsOptionsConfig } from 'node:util'
import type { Installation } from '../installation/installation.ts'

/** The options and arguments of one call, parsed. */
export interface CommandInput {
  options: Record<string, string | boolean | undefined>
  positionals: string[]
  /** The user of the operating system who made the call, such as `alice (uid 1000)`. */
  caller: string
}

/** Takes a line about the progress of a command. */
export type OnProgress = (line: string) => void

/** The options of a command, with a description each: a phrase in lower case without a full stop. */
export type CommandOptions = ParseArgsOptionsConfig & Record<string, { description: string }>

/**
 * One command. `name`, `summary`, `usage`, `arguments` and `options` are data: `--help` and the reference page are
 * made of them. `run` works on an open installation and returns data or throws a `Problem`, so the process that was called
 * can run it, or a server that has the embedded database open.
 */
export interface Command<R = unknown> {
  /** What is typed after `verdigraph`, such as `keys create`. */
  name: string
  /** One line in the imperative, without a full stop. */
  summary: string
  /** The synopsis: the name, the arguments and the options, such as `keys revoke <key id> [--environment …]`. */
  usage: string
  options?: CommandOptions
  /** Positional arguments; all of them are required. */
  arguments?: readonly string[]
  /** True if the command works only while no server is running on the installation. */
  needsStoppedServer?: boolean
  /** Runs in the calling process before `run`. Files are read here, because a server may not see the caller's files. */
  prepare?(input: CommandInput): CommandInput
  /** Runs in the calling process without an installation; undefined means that this call needs `run`. */
  runLocally?(input: CommandInput): R | undefined
  /** `onProgress` takes lines for people about long work; they go to the standard error output of the calling process. */
  run(installation: Installation, input: CommandInput, onProgress?: OnProgress): Promise<R>
  /** The result as text for people; `--json` prints the result itself. */
  render(result: R): string
  /** True if the result is bad news, such as a tampered log: the exit code is then 1. */
  isBad?(result: R): boolean
}

/** The options that every command has. */
export const globalOptions = {
  json: { type: 'boolean', description: 'print the result as JSON' },
  help: { type: 'boolean', short: 'h', description: 'print this help' },
  version: { type: 'boolean', description: 'print the release of Verdigraph' },
} as const satisfies CommandOptions

/** Declares a command, so that `run` and `render` agree on the type of the result. */
// biome-ignore lint/suspicious/noExplicitAny: a renderer takes its own command's result, so a list of commands has no narrower type.
export function defineCommand<R>(command: Command<R>): Command<any> {
  return command
}

/** Renders rows as aligned columns under a header. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd()
  return [header, ...rows].map(line).join('\n')
}
