#!/usr/bin/env node
// The command line, on the Node.js that comes with the packages.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

process.argv.splice(2, 0, fileURLToPath(new URL('../server/src/cli/main.ts', import.meta.url)))
createRequire(import.meta.url)('./run-on-node-24.cjs')
