import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { isFirefox } from './browser.ts'

/** The text of the file that an act in the page saves on the reader's computer. */
export async function savedFile(tab: Page, act: () => Promise<unknown>): Promise<string> {
  if (isFirefox) return textOfBlob(tab, act)
  const [file] = await Promise.all([tab.waitForEvent('download'), act()])
  return readFileSync(await file.path(), 'utf8')
}

/** The text that the page made a file of. Firefox reports no download of a page's own text by WebDriver BiDi. */
async function textOfBlob(tab: Page, act: () => Promise<unknown>): Promise<string> {
  const text = await tab.evaluateHandle(() => {
    const { createObjectURL } = URL
    const { promise, resolve } = Promise.withResolvers<string>()
    URL.createObjectURL = (blob: Blob) => {
      URL.createObjectURL = createObjectURL
      resolve(blob.text())
      return createObjectURL(blob)
    }
    return { promise }
  })
  await act()
  return text.evaluate(({ promise }) => promise)
}
