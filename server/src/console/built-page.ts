import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { filesBelow } from './page-build.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
/** Fonts are compressed already. */
const COMPRESSIBLE = ['.css', '.js', '.svg']
const gzipAsync = promisify(gzip)

/** A file that the page loads. */
export interface Asset {
  type: string
  content: Buffer
  /** Undefined for files that would not become smaller. */
  gzipped: Buffer | undefined
  /** Whether its name holds the hash of its content, so that it never changes. */
  isImmutable: boolean
}

/**
 * The built page in memory, about two megabytes. Requests look their path up in a table, so that none can name another
 * file, and a build that replaces the folder does not mix with the page that is served.
 */
export class BuiltPage {
  /** The document, with a placeholder for the nonce of the request. */
  readonly html: string
  readonly #assets: ReadonlyMap<string, Asset>

  private constructor(html: string, assets: ReadonlyMap<string, Asset>) {
    this.html = html
    this.#assets = assets
  }

  /** Reads a built page from its folder. */
  static async load(folder: string): Promise<BuiltPage> {
    const files = (await filesBelow(folder)).filter((file) => TYPES[extname(file)] !== undefined)
    const assets = await Promise.all(files.map(async (file) => [`/${file}`, await loadAsset(folder, file)] as const))
    return new BuiltPage(await readFile(join(folder, 'index.html'), 'utf8'), new Map(assets))
  }

  /** The file under a path such as `/assets/index-C8hDdkwb.css`. */
  asset(path: string): Asset | undefined {
    return this.#assets.get(path)
  }
}

async function loadAsset(folder: string, file: string): Promise<Asset> {
  const content = await readFile(join(folder, file))
  const gzipped = COMPRESSIBLE.includes(extname(file))
    ? await gzipAsync(content, { level: constants.Z_BEST_COMPRESSION })
    : undefined
  return { type: TYPES[extname(file)]!, content, gzipped, isImmutable: file.startsWith('assets/') }
}
