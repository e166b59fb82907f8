/** A console that the browser reaches through a proxy which can be cut, so that an outage is one of the network. */
import { after } from 'node:test'
import type { Page } from 'playwright-core'
import { CutOffProxy } from '../../server/proofs/faults/cut-off-proxy.ts'
import { freePorts } from '../../server/tests/service-process.ts'
import { openConsole, type TestConsole } from './browser.ts'

/** Starts the proxy and the console behind it; both end with the test file. */
export async function openConsoleBehindProxy(): Promise<{ testConsole: TestConsole; network: CutOffProxy }> {
  const ports = await freePorts()
  const network = new CutOffProxy({ host: '127.0.0.1', port: ports.console })
  const testConsole = await openConsole({
    CONSOLE_PORT: String(ports.console),
    CONSOLE_BASE_URL: `http://127.0.0.1:${await network.listen()}`,
  })
  after(() => network.close())
  return { testConsole, network }
}

/** The banner of an outage. */
export const outage = (tab: Page) => tab.getByText(/^The server has not answered since/)
