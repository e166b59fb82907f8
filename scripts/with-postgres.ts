/** Runs a command with TEST_DATABASE_URL set to a PostgreSQL server that exists only while the command runs. */
import { spawn } from 'node:child_process'
import { startPostgres } from './throwaway-postgres.ts'

const [command, ...args] = process.argv.slice(2)
if (!command) {
  console.error('Usage: with-postgres <command> [arguments]')
  process.exit(2)
}
const postgres = await startPostgres({ fsync: false })
const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, TEST_DATABASE_URL: postgres.url } })
const code = await new Promise<number>((resolve) => child.once('exit', (exitCode) => resolve(exitCode ?? 1)))
await postgres.stop()
process.exit(code)
