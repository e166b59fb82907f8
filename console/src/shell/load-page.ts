import { callAccount } from '../api/call.ts'
import { isOutage, outageWatch } from '../api/outage.ts'

/** Loads the code of a page. While the server is away it waits, and the page before stays with the banner of the outage. */
export async function loadPage<Module>(load: () => Promise<Module>): Promise<Module> {
  for (;;) {
    try {
      return await load()
    } catch (error) {
      // The server answers, so this code is gone: a newer release has other files.
      if (!(await isAway())) throw error
      await outageEnds()
    }
  }
}

async function isAway(): Promise<boolean> {
  try {
    await callAccount('account.show', {})
    return false
  } catch (error) {
    if (isOutage(error)) outageWatch.failed()
    return isOutage(error)
  }
}

function outageEnds(): Promise<void> {
  return new Promise((resolve) => {
    const stop = outageWatch.subscribe(() => {
      if (outageWatch.current()) return
      stop()
      resolve()
    })
  })
}
