#!/usr/bin/env node
// Runs a program on the Node.js installed by npm, because the machine's own may be too old to run TypeScript.
// The binary is found by its package: npm 10 drops the link in .bin when several packages offer the same name.
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { isFitForCache } = require('./compile-cache.cjs')

const MAJOR_NEEDED = 24

const pinned = join(__dirname, '..', 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
const isNewEnough = Number.parseInt(process.versions.node, 10) >= MAJOR_NEEDED
if (!existsSync(pinned) && !isNewEnough) {
  console.error(
    `Node.js ${MAJOR_NEEDED} was not found. Run npm ci; if no package exists for ${process.platform}-${process.arch}, install Node.js ${MAJOR_NEEDED}.`,
  )
  process.exit(1)
}

// Node.js caches the compiled code of a thousand modules for the next start, beside the packages.
const NODE_COMPILE_CACHE = join(__dirname, '..', 'node_modules', '.cache', 'node-compile')
const env =
  process.env.NODE_COMPILE_CACHE === undefined && isFitForCache(NODE_COMPILE_CACHE)
    ? { ...process.env, NODE_COMPILE_CACHE }
    : process.env

// A supervisor signals this process alone, so signals are passed on. A terminal sends Ctrl-C to both processes: the copy goes
// on as SIGTERM, which a program that has begun to stop ignores, and only a second Ctrl-C is a second SIGINT to it.
/** @type {import('node:child_process').ChildProcess} */
let child
/** @type {Record<string, NodeJS.Signals>} */
const signals = { SIGTERM: 'SIGTERM', SIGINT: 'SIGTERM', SIGHUP: 'SIGHUP' }
// Registered before the start: a signal in between would end this process without the other.
for (const [received, passed] of Object.entries(signals)) process.on(received, () => child.kill(passed))

child = spawn(existsSync(pinned) ? pinned : process.execPath, process.argv.slice(2), { stdio: 'inherit', env })
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code)
  // Ends as the program did, so that the caller sees by which signal.
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
