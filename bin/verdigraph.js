#!/usr/bin/env node
// Runs the command line on the Node.js that comes with the package: the machine's own may be too old for TypeScript.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const pinned = join(root, 'node_modules', '.bin', 'node')
const main = join(root, 'server', 'src', 'cli', 'main.ts')
const { status } = spawnSync(existsSync(pinned) ? pinned : process.execPath, [main, ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1
