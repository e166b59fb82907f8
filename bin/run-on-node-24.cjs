#!/usr/bin/env node
// Runs a program on the Node.js that comes with the packages, because the machine's own may be too old for TypeScript.
// It finds the binary by its package: npm 10 drops the link in .bin when several packages offer one of the same name.
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { join } = require('node:path')

const MAJOR_NEEDED = 24

const pinned = join(__dirname, '..', 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
const isNewEnough = Number.parseInt(process.versions.node, 10) >= MAJOR_NEEDED
if (!existsSync(pinned) && !isNewEnough) {
  console.error(
    `No Node.js ${MAJOR_NEEDED} was found: run npm ci, or install Node.js ${MAJOR_NEEDED} on this kind of machine.`,
  )
  process.exit(1)
}

// What Node.js makes of a thousand modules is kept for the next start, beside the packages, where only their owner can write.
const NODE_COMPILE_CACHE = join(__dirname, '..', 'node_modules', '.cache', 'node-compile')
const env = { NODE_COMPILE_CACHE, ...process.env }

const child = spawn(existsSync(pinned) ? pinned : process.execPath, process.argv.slice(2), { stdio: 'inherit', env })
// A terminal sends Ctrl-C to both; a supervisor that signals only this process means the program.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 : 1)))
