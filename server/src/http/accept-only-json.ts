import type { FastifyInstance, FastifyRequest } from 'fastify'
import { BodyFault, readJsonBody } from './json-body.ts'

/** Makes JSON the only content type of a server. Bodies arrive as bytes, and `jsonOf` parses them when it is their turn. */
export function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
}

/** Parses the body of a request; undefined if it has none. */
export function jsonOf({ headers, body }: Pick<FastifyRequest, 'headers' | 'body'>): { value: unknown } | BodyFault {
  if (body === undefined) return { value: undefined }
  return isPlainUtf8(headers) ? readJsonBody(body as Buffer) : NOT_PLAIN_UTF8
}

const NOT_PLAIN_UTF8 = new BodyFault(
  'unsupported_media_type',
  'The body is compressed or not in UTF-8. Send it as it is, in UTF-8.',
)

function isPlainUtf8({
  'content-encoding': encoding = 'identity',
  'content-type': type = '',
}: FastifyRequest['headers']) {
  const charset = /;\s*charset="?([^";\s]*)/i.exec(type)?.[1] ?? 'utf-8'
  return encoding.toLowerCase() === 'identity' && /^utf-?8$/i.test(charset)
}
