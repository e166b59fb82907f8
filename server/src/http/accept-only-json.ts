import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Failure, fail } from './api-error.ts'
import { readJsonBody } from './json-body.ts'

/** Makes JSON in UTF-8 the only content type of a server; a body that cannot be read becomes a `Failure`. */
export function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, ({ headers }, bytes, done) => {
    const body = isPlainUtf8(headers) ? readJsonBody(bytes as Buffer) : fail('unsupported_media_type', NOT_PLAIN_UTF8)
    if (body instanceof Failure) done(body as unknown as Error)
    else done(null, body.value)
  })
}

const NOT_PLAIN_UTF8 = { message: 'The body is compressed or not in UTF-8. Send it as it is, in UTF-8.' }

function isPlainUtf8({ 'content-encoding': encoding = 'identity', 'content-type': type = '' }: IncomingHttpHeaders) {
  const charset = /;\s*charset="?([^";\s]*)/i.exec(type)?.[1] ?? 'utf-8'
  return encoding.toLowerCase() === 'identity' && /^utf-?8$/i.test(charset)
}
