#!/usr/bin/env node
// Runs a program on the Node.js installed by npm, because the machine's own may be too old to run TypeScript.
// The binary is found by its package: npm 10 drops the link in .bin when several packages offer the same name.
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const MAJOR_NEEDED = 24

const pinned = join(__dirname, '..', 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
const isNewEnough = Number.parseInt(process.versions.node, 10) >= MAJOR_NEEDED
if (!existsSync(pinned) && !isNewEnough) {
  console.error(
    `Node.js ${MAJOR_NEEDED} was not found. Run npm ci; if no package exists for ${process.platform}-${process.arch}, install Node.js ${MAJOR_NEEDED}.`,
  )
  process.exit(1)
}

// Node.js caches the compiled code of a thousand modules for the next start. The cache lies beside the packages, where
// only their owner can write.
const NODE_COMPILE_CACHE = join(__dirname, '..', 'node_modules', '.cache', 'node-compile')
const env = { NODE_COMPILE_CACHE, ...process.env }

const child = spawn(existsSync(pinned) ? pinned : process.execPath, process.argv.slice(2), { stdio: 'inherit', env })
// A terminal sends Ctrl-C to both processes; a supervisor signals only this one, so the signal is passed on.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 : 1)))
