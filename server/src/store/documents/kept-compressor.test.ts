import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type ZstdCompress, zstdDecompressSync } from 'node:zlib'
import { KeptCompressor } from './kept-compressor.ts'

test('texts that are compressed at once are frames of their own, also those larger than the pieces of the output', async () => {
  const compressor = new KeptCompressor({ level: 1 })
  const noise = (length: number) => Array.from({ length }, (_, n) => Math.sin(length * n)).join()
  const texts = ['a', noise(20_000), '', noise(10), noise(20_000)]
  const frames = await Promise.all(texts.map((text) => compressor.compress(text)))
  assert.deepEqual(
    frames.map((frame) => zstdDecompressSync(frame).toString()),
    texts,
  )
})

test('every frame is compressed with the dictionary', async () => {
  const dictionary = Buffer.from(randomBytes(2_000).toString('hex'))
  const compressor = new KeptCompressor({ level: 1, dictionary })
  for (let frames = 0; frames < 3; frames++) {
    const frame = await compressor.compress(dictionary.toString())
    assert.ok(frame.length < 50, `${frame.length} bytes`)
    assert.equal(zstdDecompressSync(frame, { dictionary }).toString(), dictionary.toString())
  }
})

test('a broken context rejects every text that waits for it, and the next text gets another', async () => {
  const contexts: ZstdCompress[] = []
  const compressor = new KeptCompressor({ level: 1 }, (stream) => contexts.push(stream))
  const waiting = Promise.allSettled([compressor.compress('a'), compressor.compress('b')])
  contexts[0]!.destroy(new Error('no memory'))
  assert.deepEqual(
    (await waiting).map((result) => result.status === 'rejected' && result.reason.message),
    ['no memory', 'no memory'],
  )
  assert.equal(zstdDecompressSync(await compressor.compress('c')).toString(), 'c')
  assert.equal(contexts.length, 2)
})
