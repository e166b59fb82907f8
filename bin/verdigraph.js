#!/usr/bin/env node
// Runs the command line on the Node.js installed by npm.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

process.argv.splice(2, 0, fileURLToPath(new URL('../server/src/cli/main.ts', import.meta.url)))
createRequire(import.meta.url)('./run-on-node-24.cjs')
