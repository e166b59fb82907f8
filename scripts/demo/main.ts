/** `npm run demo`: fills the sandbox with a sample organization, so that a newcomer sees a living console. */
import { parseArgs } from 'node:util'
import { readConfig } from '../../server/src/config.ts'
import { explainFailure } from '../../server/src/installation/explain-failure.ts'
import { openLog } from '../../server/src/service/log.ts'
import { FolderHeld } from '../../server/src/store/database/folder-lock.ts'
import { fillSandbox, SERVICE_RUNS } from './fill-sandbox.ts'
import { Progress } from './progress.ts'
import { summaryOf } from './summary.ts'

const HELP = `Fills the sandbox of the first organization with sample data: about 300 entities, and 2,200 decisions over the
last 90 days with reviews, outcomes, webhooks and usage. It creates the installation if there is none.

Usage: npm run demo -- [--seed <number>] [--size <factor>] [--add]

  --seed  the same seed on the same day gives the same figures; 1 if it is left out
  --size  how much to write: 1 is 2,200 decisions and takes about a minute, 0.1 a tenth of it
  --add   add the sample to a sandbox that has entities already
  --help  print this help`

async function main(): Promise<number> {
  // As in the service: a file that is created without a mode is for its owner only.
  process.umask(0o077)
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      size: { type: 'string', default: '1' },
      add: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const [seed, size] = [Number(values.seed), Number(values.size)]
  if (!Number.isSafeInteger(seed) || seed < 0) return refuse('--seed must be a whole number from 0')
  if (!(size > 0 && size <= 20)) return refuse('--size must be a number above 0 and up to 20')

  const config = readConfig(process.env)
  const progress = new Progress(process.stderr)
  const started = Date.now()
  const filled = await fillSandbox(config, {
    seed,
    size,
    now: started,
    add: values.add,
    // Warnings are part of the sample: a webhook endpoint that is disabled.
    logger: openLog('error'),
    onProgress: (share, what) => progress.show(share, what),
  }).finally(() => progress.end())
  if ('refused' in filled) return refuse(filled.refused)
  const seconds = Math.round((Date.now() - started) / 1000)
  console.log(summaryOf(filled, { config, seconds, isTerminal: process.stdout.isTTY }))
  return 0
}

function refuse(problem: string): number {
  console.error(problem)
  return 1
}

process.exitCode = await main().catch((error) =>
  refuse(
    error instanceof FolderHeld
      ? `${SERVICE_RUNS}: stop the service with Ctrl-C, run npm run demo again, then npm start`
      : explainFailure(error),
  ),
)
