import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, firefox } from 'playwright-core'

/** The session by which Playwright sends WebDriver BiDi commands; no part of its public API. */
interface BidiSession {
  send(command: string, parameters: object): Promise<unknown>
}

/** Starts the Firefox of the machine, without patches, by WebDriver BiDi. `FIREFOX` names one that is not in a usual place. */
export async function launchFirefox(): Promise<Browser> {
  const places = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox']
  const executablePath = places.find((place) => place !== undefined && existsSync(place))
  if (!executablePath)
    throw new Error('No Firefox was found. Install it (apt-get install firefox-esr), or name it in FIREFOX.')
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath,
    firefoxUserPrefs: { 'ui.prefersReducedMotion': 1, 'dom.events.testing.asyncClipboard': true },
  })
  ignoreColorScheme(browser)
  return browser
}

/**
 * Answers the command for the colour scheme here, because Firefox ESR 153 refuses it as unknown and Playwright 1.65 sends it
 * for every context. Journeys in Firefox see the light theme only.
 */
function ignoreColorScheme(browser: Browser): void {
  const { _connection } = browser as unknown as {
    _connection: { toImpl(object: unknown): { _browserSession: BidiSession } }
  }
  const session = Object.getPrototypeOf(_connection.toImpl(browser)._browserSession) as BidiSession
  const { send } = session
  session.send = function (this: BidiSession, command, parameters) {
    if (command === 'emulation.setMediaFeaturesOverride') return Promise.resolve({})
    return send.call(this, command, parameters)
  }
}

/**
 * Inserts text as Firefox's own editor does. Playwright's `fill` sets the value of an input by script there, which React takes
 * for its own doing, so that no page would learn of what was typed.
 */
export async function insertTextAsTyped(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const insert = (text: string) => void document.execCommand('insertText', false, text)
    // Playwright assigns its own function by this name, before or after this script.
    Object.defineProperty(window, '__pw_bidiInsertText', { get: () => insert, set: () => {} })
  })
}
