import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ZstdCompress, zstdDecompressSync } from 'node:zlib'
import { KeptCompressor } from './kept-compressor.ts'

test('texts that are compressed at once are frames of their own, also those larger than the pieces of the output', async () => {
  const compressor = new KeptCompressor(1)
  const noise = (length: number) => Array.from({ length }, (_, n) => Math.sin(length * n)).join()
  const texts = ['a', noise(20_000), '', noise(10), noise(20_000)]
  const frames = await Promise.all(texts.map((text) => compressor.compress(text)))
  assert.deepEqual(
    frames.map((frame) => zstdDecompressSync(frame).toString()),
    texts,
  )
})

test('a broken context rejects every text that waits for it, and the next text gets another', async () => {
  const contexts: ZstdCompress[] = []
  const compressor = new KeptCompressor(1, (stream) => contexts.push(stream))
  const waiting = Promise.allSettled([compressor.compress('a'), compressor.compress('b')])
  contexts[0]!.destroy(new Error('no memory'))
  assert.deepEqual(
    (await waiting).map((result) => result.status === 'rejected' && result.reason.message),
    ['no memory', 'no memory'],
  )
  assert.equal(zstdDecompressSync(await compressor.compress('c')).toString(), 'c')
  assert.equal(contexts.length, 2)
})
