/** The entry point of the command line: `verdigraph <command>`. */
import { runCommandLine } from './run-command-line.ts'

// As in the service: a command may create files of the data folder.
process.umask(0o077)
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
})
