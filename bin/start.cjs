#!/usr/bin/env node
// `npm start`: runs the build of the server if it fits the sources that are here, and otherwise the sources.
const { join } = require('node:path')
const { isFitForCache } = require('./compile-cache.cjs')
const { findBuild } = require('./server-build.cjs')

const ROOT = join(__dirname, '..')

const build = findBuild(ROOT)
if ('folder' in build) {
  process.argv.splice(2, 0, join(build.folder, 'main.js'))
  // In the folder of the build, so that it goes with it.
  const cache = join(build.folder, 'compile-cache')
  if (isFitForCache(cache)) process.env.NODE_COMPILE_CACHE ??= cache
} else {
  process.argv.splice(2, 0, join(ROOT, 'server', 'src', 'main.ts'), `--from-source=${build.whyNot}`)
}
require('./run-on-node-24.cjs')
