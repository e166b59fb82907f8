/** `npm run build`: builds the page of the console ahead of the first start, for packages and containers. */
import { buildPage, CONSOLE_FOLDER, PageNotBuildable } from '../server/src/console/page-build.ts'

const started = performance.now()
console.error('Building the page of the console …')
try {
  await buildPage(CONSOLE_FOLDER)
  console.error(`Built console/dist in ${((performance.now() - started) / 1000).toFixed(1)} s.`)
} catch (error) {
  const { message } = error as Error
  console.error(error instanceof PageNotBuildable ? `The page cannot be built here: ${message}.` : message)
  process.exitCode = 1
}
