/** `npm run build`: builds the page of the console and the server ahead of the first start, for packages and containers. */
import { NotBuildable } from '../server/src/build/build-process.ts'
import { buildServer } from '../server/src/build/server-build.ts'
import { buildPage, CONSOLE_FOLDER } from '../server/src/console/page-build.ts'

for (const { what, build } of [
  { what: 'the page of the console', build: () => buildPage(CONSOLE_FOLDER) },
  { what: 'the server', build: () => buildServer() },
]) {
  const started = performance.now()
  console.error(`Building ${what} …`)
  try {
    await build()
    console.error(`Built ${what} in ${((performance.now() - started) / 1000).toFixed(1)} s.`)
  } catch (error) {
    const { message } = error as Error
    console.error(error instanceof NotBuildable ? `It cannot be built here: ${message}.` : message)
    process.exitCode = 1
  }
}
