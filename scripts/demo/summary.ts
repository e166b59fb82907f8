import type { Config } from '../../server/src/config.ts'
import { VERDICTS } from '../../server/src/core/vocabularies.ts'
import type { FilledSandbox } from './fill-sandbox.ts'

/** What was written, where to look at it, and how to sign in; the first key and link only for a terminal, which no log keeps. */
export function summaryOf(
  { organization, figures, firstRunText }: FilledSandbox,
  { config, seconds, isTerminal }: { config: Config; seconds: number; isTerminal: boolean },
): string {
  const shown = isTerminal ? firstRunText : undefined
  const count = (value: number) => value.toLocaleString('en')
  const verdicts = VERDICTS.map((verdict) => `${count(figures.verdicts[verdict])} ${verdict}`).join(', ')
  const { console: url } = config.baseUrls
  const page = (name: string) => `${url}/${organization.id}/sandbox/${name}`
  return [
    `The sandbox of ${organization.name} has ${count(figures.entities)} sample entities with ${count(figures.transactions)} transactions,`,
    `${count(figures.decisions)} decisions (${verdicts}),`,
    `${count(figures.reviews)} reviews and ${count(figures.outcomes)} outcomes. It took ${seconds} s.`,
    ...(shown ? ['', shown.trim()] : []),
    '',
    'Start the service with npm start, and look at:',
    `  ${page('overview')}   decisions by day, and the review queue`,
    `  ${page('webhooks')}   one endpoint is failing and is tried again, one was disabled`,
    `  ${page('usage')}      requests, decisions and errors by day`,
    `  ${page('audit-log')}  every act; npm run cli -- audit verify proves the log`,
    '',
    shown
      ? 'To sign in for the first time, open the link above within two days; it is also in first-run.txt.'
      : 'If there is no owner yet, the link for the first sign-in is in first-run.txt; npm run cli -- operators first-link makes a new one.',
    'The people of the sample team cannot sign in until you invite them. The webhook receivers ran only while the sample was',
    'made: what is sent now fails and is tried again. Production has no sample data; its audit log has the sample team.',
  ].join('\n')
}
