import type { ParseArgsOptionsConfig } from 'node:util'
import type { Installation } from '../service/installation.ts'

/** What a command was called with, after its options were read. */
export interface CommandInput {
  options: Record<string, string | boolean | undefined>
  positionals: string[]
}

/** A command that could not do what was asked, with a line that says what to do. */
export interface Problem {
  problem: string
}

/** One command. It works on an installation and returns data, so it runs as well in the server as on its own. */
export interface Command<R = unknown> {
  name: string
  summary: string
  usage: string
  options?: ParseArgsOptionsConfig & Record<string, { description: string }>
  /** Positional arguments that must be given. */
  arguments?: readonly string[]
  /** Done by the process that was called, before anything is handed on: only it sees the caller's files. */
  prepare?(input: CommandInput): CommandInput | Problem
  /** Answers what needs no installation; nothing when this call needs one after all. */
  runLocally?(input: CommandInput): R | Problem | undefined
  run(installation: Installation, input: CommandInput): Promise<R | Problem>
  /** The result for people; `--json` prints it for programs. */
  render(result: R): string
  /** A result that is bad news, such as a log that was tampered with, is an exit code of 1. */
  isBad?(result: R): boolean
}

/** Declares a command, so that `run` and `render` agree on the result. */
// biome-ignore lint/suspicious/noExplicitAny: a renderer takes its own command's result, so a list of commands has no narrower type.
export function defineCommand<R>(command: Command<R>): Command<any> {
  return command
}

/** Tells a problem from a result. */
export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'problem' in value
}

/** Columns padded to line up. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd()
  return [header, ...rows].map(line).join('\n')
}
