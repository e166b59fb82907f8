import { constants, createZstdCompress, type ZstdCompress, type ZstdOptions } from 'node:zlib'

/** A text that waits for its frame. */
interface Waiting {
  resolve: (frame: Buffer) => void
  reject: (error: Error) => void
}

/** One zstd context, with the texts that wait for it and the pieces of the frame that it is writing. */
interface Context {
  stream: ZstdCompress
  waiting: Set<Waiting>
  pieces: Buffer[]
}

/**
 * Compresses with zstd, one text after the other, in a thread of Node's pool and with one context. `zstdCompressSync` makes a
 * context for every call, whose memory lies outside of V8's heap: at 340 calls a second, it made V8 collect the whole heap every
 * two seconds, and mark it for 0.1 s on all processors.
 *
 * An error ends the context and rejects all texts that wait for it; the next text gets a new context.
 */
export class KeptCompressor {
  readonly #options: ZstdOptions
  readonly #onOpened: (stream: ZstdCompress) => void
  #context: Context | undefined

  constructor(
    { level, dictionary }: { level: number; dictionary?: Buffer },
    onOpened: (stream: ZstdCompress) => void = () => {},
  ) {
    const params = { [constants.ZSTD_c_compressionLevel]: level }
    // Each write is a frame. The context keeps the dictionary as long as it is not reset.
    this.#options = { flush: constants.ZSTD_e_end, params, ...(dictionary && { dictionary }) }
    this.#onOpened = onOpened
  }

  /** Resolves to one frame, which rarely has an empty one behind it. */
  compress(text: string): Promise<Buffer> {
    this.#context ??= this.#open()
    const context = this.#context
    return new Promise((resolve, reject) => {
      const waiting = { resolve, reject }
      context.waiting.add(waiting)
      // Writes are done in their order, and each calls back once its frame was read.
      context.stream.write(Buffer.from(text), (error) => {
        if (error || context.stream.destroyed) return // rejected with all others
        context.waiting.delete(waiting)
        resolve(Buffer.concat(context.pieces))
        context.pieces = []
      })
    })
  }

  #open(): Context {
    const stream = createZstdCompress(this.#options)
    const context: Context = { stream, waiting: new Set(), pieces: [] }
    stream.on('data', (piece: Buffer) => context.pieces.push(piece))
    let failure = new Error('the compressor was closed')
    stream.on('error', (error) => {
      failure = error
    })
    // After an error Node closes the stream without calling back for the write in progress.
    stream.on('close', () => {
      if (this.#context === context) this.#context = undefined
      for (const { reject } of context.waiting) reject(failure)
    })
    this.#onOpened(stream)
    return context
  }
}
