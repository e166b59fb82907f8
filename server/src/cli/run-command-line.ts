import { parseArgs } from 'node:util'
import { conflict, Problem } from '../admin/problem.ts'
import { type Config, readConfig } from '../config.ts'
import { explainFailure } from '../installation/explain-failure.ts'
import { findKeyFault, type KeyFault, openInstallation } from '../installation/installation.ts'
import { databaseFolder, holdsDatabase } from '../store/database/database-folder.ts'
import { VERSION } from '../version.ts'
import { type Command, type CommandInput, type CommandOptions, globalOptions, type OnProgress } from './command.ts'
import { NO_SERVER, runOnServer } from './command-socket.ts'
import { commands, findCommand } from './commands.ts'
import { checkMachine } from './doctor.ts'
import { HINTS } from './hints.ts'
import { nameOsUser } from './os-user.ts'
import { printableJson } from './printable.ts'

/** Where one call of the command line reads its settings and prints its results. */
export interface CommandLine {
  env: NodeJS.ProcessEnv
  print(text: string): void
  printError(text: string): void
}

const RELEASE = `Verdigraph ${VERSION}`

/**
 * Runs one call of the command line: finds the command in the table of commands.ts, parses the arguments, runs the command
 * and prints the result. Returns the exit code: 0 success, 1 the command failed or its result is bad news, 2 the call was
 * wrong.
 */
export async function runCommandLine(argv: readonly string[], line: CommandLine): Promise<number> {
  try {
    return await callCommand(argv, line)
  } catch (error) {
    line.printError(explainFailure(error))
    return 1
  }
}

async function callCommand(argv: readonly string[], line: CommandLine): Promise<number> {
  const command = findCommand(argv.slice(0, 2).join(' ')) ?? findCommand(argv[0] ?? '')
  if (!command) {
    if (argv.length === 0 || isHelp(argv[0]!)) {
      line.print(overview())
      return 0
    }
    if (argv[0] === '--version') {
      line.print(VERSION)
      return 0
    }
    const [group, ...others] = argv
    if (isGroup(group!) && (others.length === 0 || isHelp(others[0]!))) {
      line.print(overview(group))
      return 0
    }
    line.printError(`there is no command ${JSON.stringify(argv.join(' '))}\n\n${overview(group)}`)
    return 2
  }
  const { values, positionals, problem } = parseArguments(command, argv.slice(command.name.split(' ').length))
  if (values?.help || values?.version) {
    line.print(values.help ? help(command) : VERSION)
    return 0
  }
  if (problem) {
    line.printError(`${problem}\n\n${help(command)}`)
    return 2
  }
  const { json, ...options } = values!
  const input = { options, positionals: positionals!, caller: nameOsUser(line.env.SUDO_USER) }
  const isJson = json === true
  try {
    const result = await run(command, input, line)
    line.print(isJson ? printableJson(result, 2) : command.render(result))
    return command.isBad?.(result) ? 1 : 0
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { message, kind, code } = error
    line.printError(isJson ? printableJson({ problem: message, kind, code, hint: HINTS[code] }, 0) : textOf(error))
    return 1
  }
}

/** A problem for people: what is so, and what they can do about it. */
function textOf({ message, code }: Problem): string {
  const hint = HINTS[code]
  if (hint === undefined) return message
  return `${message}${message.includes('\n') ? '\n' : ' '}${hint}`
}

async function run(command: Command, input: CommandInput, line: CommandLine): Promise<unknown> {
  const prepared = command.prepare?.(input) ?? input
  const localResult = command.runLocally?.(prepared)
  if (localResult !== undefined) return localResult
  const call = { config: readConfig(line.env), command, input: prepared, onProgress: line.printError }
  return command.name === 'doctor' ? runDoctor(call) : runOnInstallation(call)
}

/** A call of a command on an installation. Progress is for people, so it stays out of the result. */
interface InstallationCall {
  config: Config
  command: Command
  input: CommandInput
  onProgress: OnProgress
}

/** Doctor also reports on an installation that cannot be opened: that it cannot is then one of the checks. */
async function runDoctor(call: InstallationCall): Promise<unknown[]> {
  const failedCheck = (detail: string) => [{ name: 'installation', ok: false, detail }]
  const machine = checkMachine(call.config)
  const installation = await runOnInstallation(call).catch((error) =>
    failedCheck(error instanceof Problem ? textOf(error) : explainFailure(error)),
  )
  return [...machine, ...(installation as unknown[])]
}

/** The commands that say themselves what is wrong with the master key, or do not use it. */
const ANY_KEY = ['doctor', 'migrate', 'master-key rotate']

/** Runs a command in the server that has the embedded database open; if there is none, in this process. */
async function runOnInstallation({ config, command, input, onProgress }: InstallationCall): Promise<unknown> {
  if (!config.databaseUrls) {
    // Nothing is sent to a server for a command that needs it stopped: the lock of the folder refuses to open it twice.
    const answer = command.needsStoppedServer
      ? NO_SERVER
      : await runOnServer(config.dataDir, { command: command.name, input, onProgress })
    if (answer !== NO_SERVER) return answer
    // Opening the embedded database creates it. Only `npm start` and `migrate` are meant to create an installation.
    if (command.name !== 'migrate' && !holdsDatabase(databaseFolder(config.dataDir)))
      throw conflict('not_set_up', 'The database is not set up yet.')
  }
  const installation = await openInstallation(config, { longStatements: true })
  installation.refusedRows.onRefused(({ table, subject, why }) =>
    onProgress(
      `ALARM row_refused: a row that grants power and that this service did not write so was refused (${table} ${subject}, ${why}): see "A row is refused" in docs/runbook.md`,
    ),
  )
  try {
    // Entries under another key would never be sealed.
    const fault = ANY_KEY.includes(command.name) ? undefined : await findKeyFault(installation)
    if (fault !== undefined) throw keyProblem(fault)
    return await command.run(installation, input, onProgress)
  } finally {
    await installation.close()
  }
}

function keyProblem(fault: KeyFault): Problem {
  return fault === 'other_key'
    ? conflict('master_key_wrong', 'This node has another master key than the installation was made with.')
    : conflict('rotation_incomplete', 'A rotation of the master key was interrupted and is not complete.')
}

function parseArguments(
  command: Command,
  args: string[],
): { values?: Record<string, string | boolean>; positionals?: string[]; problem?: string } {
  try {
    const options = { ...command.options, ...globalOptions }
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    const expected = command.arguments ?? []
    const missing = expected[positionals.length]
    if (!values.help && !values.version && missing) return { problem: `the argument <${missing}> is missing` }
    if (positionals.length > expected.length)
      return { problem: `unexpected argument ${JSON.stringify(positionals[expected.length])}` }
    return { values: values as Record<string, string | boolean>, positionals }
  } catch (error) {
    // Node's messages start with a capital, and some go on with a second sentence about positional arguments.
    const [message] = (error as Error).message.split('. ', 1)
    return { problem: message!.charAt(0).toLowerCase() + message!.slice(1) }
  }
}

const isHelp = (argument: string) => ['help', '--help', '-h'].includes(argument)
const isGroup = (name: string) => commands.some((command) => command.name.startsWith(`${name} `))

/** The commands of a group, or all of them. */
function overview(group = ''): string {
  const listed = isGroup(group) ? commands.filter(({ name }) => name.startsWith(`${group} `)) : commands
  const width = Math.max(...listed.map(({ name }) => name.length))
  const lines = listed.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return [
    'Usage: verdigraph <command> [options]',
    '',
    ...lines,
    '',
    'Every command has --help, and --json for programs.',
    '',
    RELEASE,
  ].join('\n')
}

function help({ summary, usage, options = {} }: Command): string {
  const all: CommandOptions = { ...options, ...globalOptions }
  const width = Math.max(...Object.keys(all).map((name) => name.length))
  const lines = Object.entries(all).map(([name, { description }]) => `  --${name.padEnd(width)}  ${description}`)
  return [`${summary}.`, '', `Usage: verdigraph ${usage}`, '', ...lines, '', RELEASE].join('\n')
}
