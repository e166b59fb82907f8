import type { Command } from '../../server/src/cli/command.ts'
import { commands } from '../../server/src/cli/commands.ts'
import { anchor, code, type Page, table } from './markdown.ts'

/** The commands of the command line. */
export function cliPage(): Page {
  return {
    title: 'Command line',
    lists: 'the commands of the command line',
    source: 'server/src/cli/commands.ts',
    body: [
      'Run a command with `npm run cli -- <command>` or `npx verdigraph <command>`. Every command also takes `--help`, `--version`, and `--json` to print its result as JSON. The exit code is 0 on success, 1 when the command failed or found a problem, and 2 when it was called wrongly.',
      table(
        ['command', 'what it does'],
        commands.map(({ name, summary }) => [`[${code(name)}](#${anchor(name)})`, summary]),
      ),
      ...commands.flatMap(describe),
    ],
  }
}

function describe({ name, summary, usage, options = {} }: Command): string[] {
  const rows = Object.entries(options).map(([option, { description }]) => [code(`--${option}`), description])
  return [
    `## ${name}`,
    `${summary}.`,
    `\`\`\`\nverdigraph ${usage}\n\`\`\``,
    ...(rows.length === 0 ? [] : [table(['option', 'meaning'], rows)]),
  ]
}
