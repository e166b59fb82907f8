import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../config.ts'
import { explainFailure, NOT_SET_UP } from '../service/explain-failure.ts'
import { openInstallation } from '../service/installation.ts'
import { databaseFolder, holdsDatabase } from '../store/database/database-folder.ts'
import { type Command, type CommandInput, isProblem } from './command.ts'
import { NO_SERVER, runOnServer } from './command-socket.ts'
import { commands, findCommand } from './commands.ts'
import { checkSurroundings } from './doctor.ts'

/** Runs one call of the command line and returns its exit code. */
async function main(argv: string[]): Promise<number> {
  const command = findCommand(argv.slice(0, 2).join(' ')) ?? findCommand(argv[0] ?? '')
  if (!command) {
    const asked = argv.length === 0 || argv[0] === 'help' || argv[0] === '--help' || argv[0] === '-h'
    ;(asked ? console.log : console.error)(
      asked ? overview() : `There is no command ${JSON.stringify(argv.join(' '))}.\n\n${overview()}`,
    )
    return asked ? 0 : 2
  }
  const { values, positionals, problem } = readArguments(command, argv.slice(command.name.split(' ').length))
  if (values?.help) {
    console.log(help(command))
    return 0
  }
  if (problem) {
    console.error(`${problem}\n\n${help(command)}`)
    return 2
  }
  const { json, ...options } = values!
  return report(command, await run(command, { options, positionals: positionals! }), json === true)
}

async function run(command: Command, input: CommandInput): Promise<unknown> {
  const prepared = command.prepare?.(input) ?? input
  if (isProblem(prepared)) return prepared
  const answer = command.runLocally?.(prepared)
  if (answer !== undefined) return answer
  const config = readConfig(process.env)
  if (command.name !== 'doctor') return runOnInstallation(config, command, prepared)
  const surroundings = checkSurroundings(config)
  const inside = await runOnInstallation(config, command, prepared).catch((error) => [
    { name: 'installation', ok: false, detail: explainFailure(error) },
  ])
  return isProblem(inside)
    ? [...surroundings, { name: 'installation', ok: false, detail: inside.problem }]
    : [...surroundings, ...(inside as unknown[])]
}

/** On the embedded database a running server has the folder to itself, so the command goes to the server. */
async function runOnInstallation(config: Config, command: Command, input: CommandInput): Promise<unknown> {
  if (!config.databaseUrls) {
    const answer = await runOnServer(config.dataDir, command.name, input)
    if (answer !== NO_SERVER) return answer
    // Opening would create an installation, and only a start and a migration are meant to.
    if (command.name !== 'migrate' && !holdsDatabase(databaseFolder(config.dataDir))) return { problem: NOT_SET_UP }
  }
  const installation = await openInstallation(config)
  try {
    return await command.run(installation, input)
  } finally {
    await installation.close()
  }
}

function report(command: Command, result: unknown, json: boolean): number {
  if (isProblem(result)) {
    console.error(json ? JSON.stringify(result) : result.problem)
    return 1
  }
  console.log(json ? JSON.stringify(result, null, 2) : command.render(result))
  return command.isBad?.(result) ? 1 : 0
}

function readArguments(
  command: Command,
  args: string[],
): { values?: Record<string, string | boolean>; positionals?: string[]; problem?: string } {
  try {
    const options = { ...command.options, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
    const expected = command.arguments ?? []
    const missing = expected[positionals.length]
    if (!values.help && missing) return { problem: `<${missing}> is missing.` }
    if (positionals.length > expected.length)
      return { problem: `${JSON.stringify(positionals[expected.length])} is one argument too many.` }
    return { values: values as Record<string, string | boolean>, positionals }
  } catch (error) {
    return { problem: `${(error as Error).message.split('. ', 1)[0]}.` }
  }
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return [
    'Usage: verdigraph <command> [options]',
    '',
    ...lines,
    '',
    'Every command has --help, and --json for programs.',
  ].join('\n')
}

function help({ summary, usage, options = {} }: Command): string {
  const all = {
    ...options,
    json: { type: 'boolean', description: 'print the result as JSON' },
    help: { type: 'boolean', description: 'print this' },
  }
  const width = Math.max(...Object.keys(all).map((name) => name.length))
  const lines = Object.entries(all).map(([name, { description }]) => `  --${name.padEnd(width)}  ${description}`)
  return [`${summary}.`, '', `Usage: verdigraph ${usage}`, '', ...lines].join('\n')
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(explainFailure(error))
  process.exitCode = 1
}
