import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { NotBuildable } from '../build/build-process.ts'
import { BuiltPage } from './built-page.ts'
import { buildPage, CONSOLE_FOLDER, fingerprintOfDist, fingerprintOfSources } from './page-build.ts'

/** What a request for the page gets: the page, or why there is none. */
export type PageState = { is: 'ready'; page: BuiltPage } | { is: 'building' } | { is: 'unavailable'; why: string }

/** How often the log says that a build goes on. */
const PROGRESS_EVERY_MS = 5_000

/**
 * Where the page comes from.
 *
 *     checking → ready        dist/ was built from the sources that are here, or nothing here can build it
 *     checking → building     the sources have changed, or there is no dist/; only with `builds`
 *     building → ready        the build ended
 *     building → unavailable  the build failed; the next start tries again
 *     checking → unavailable  there is no dist/, and nothing here can build it
 */
export class PageSource {
  readonly #folder: string
  readonly #logger: FastifyBaseLogger
  readonly #builds: boolean
  readonly #aborter = new AbortController()
  #state: PageState | undefined
  #checking: Promise<void> | undefined
  #building: Promise<void> | undefined

  constructor({
    logger,
    builds,
    folder = CONSOLE_FOLDER,
  }: { logger: FastifyBaseLogger; builds: boolean; folder?: string }) {
    this.#logger = logger
    this.#builds = builds
    this.#folder = folder
  }

  /** The page, or why there is none. The first call looks at the folder, and starts a build if one is needed. */
  async state(): Promise<PageState> {
    this.#checking ??= this.#check()
    await this.#checking
    return this.#state!
  }

  /** Ends a build that is running. */
  async close(): Promise<void> {
    this.#aborter.abort()
    await this.#checking
    await this.#building
  }

  async #check(): Promise<void> {
    const [built, sources] = await Promise.all([fingerprintOfDist(this.#folder), fingerprintOfSources(this.#folder)])
    const isCurrent = built !== undefined && (sources === undefined || built === sources)
    if (isCurrent || !this.#builds) return this.#serveDist('it has not been built. Run npm run build.')
    this.#state = { is: 'building' }
    this.#building = this.#build(built !== undefined)
  }

  async #build(hasOlder: boolean): Promise<void> {
    const started = performance.now()
    const seconds = () => Math.round((performance.now() - started) / 100) / 10
    this.#logger.info('building the page of the console; the APIs answer meanwhile')
    const timer = setInterval(
      () => this.#logger.info({ seconds: seconds() }, 'still building the page of the console'),
      PROGRESS_EVERY_MS,
    )
    try {
      await buildPage(this.#folder, { signal: this.#aborter.signal })
      this.#logger.info({ seconds: seconds() }, 'built the page of the console')
      await this.#serveDist('the built page could not be read.')
    } catch (error) {
      if (!this.#aborter.signal.aborted) await this.#explain(error as Error, hasOlder)
    } finally {
      clearInterval(timer)
    }
  }

  /** After a failed build: an older page is better than none where this machine cannot build at all. */
  async #explain(error: Error, hasOlder: boolean): Promise<void> {
    if (!(error instanceof NotBuildable)) {
      this.#logger.error({ err: error }, 'the page of the console could not be built; the next start tries again')
      this.#state = {
        is: 'unavailable',
        why: 'its build failed. Run npm run build to see why; the next start tries again.',
      }
      return
    }
    if (hasOlder)
      this.#logger.warn({ why: error.message }, 'the page of the console is older than its sources and cannot be built')
    else this.#logger.error({ why: error.message }, 'the page of the console cannot be built')
    await this.#serveDist(`${error.message}. Run npm run build where it can be built, and copy console/dist here.`)
  }

  async #serveDist(whyNot: string): Promise<void> {
    try {
      this.#state = { is: 'ready', page: await BuiltPage.load(join(this.#folder, 'dist')) }
    } catch {
      this.#state = { is: 'unavailable', why: whyNot }
    }
  }
}
