import { ROLES, SETTINGS, type Setting } from '../../server/src/config.ts'
import { capitalized, code, codes, type Page, table } from './markdown.ts'

/** The environment variables of the service. */
export function settingsPage(): Page {
  return {
    title: 'Settings',
    lists: 'the environment variables that the service and the command line read',
    source: 'server/src/config.ts',
    body: [
      'An empty variable counts as unset. A value that is not allowed stops the start with a message that names the setting.',
      table(
        ['setting', 'default', 'meaning', 'allowed values'],
        Object.entries<Setting>(SETTINGS).map(([name, setting]) => [
          code(name),
          'default' in setting ? code(setting.default) : setting.otherwise,
          setting.meaning,
          capitalized(setting.allowed.words),
        ]),
      ),
      `\`npm start -- --roles <list>\` chooses what a process does: a comma-separated list of ${codes(ROLES)}, by default all of them.`,
    ],
  }
}
