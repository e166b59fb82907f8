import { API_ERRORS } from '../../server/src/api/api-error.ts'
import { code, type Page, table } from './markdown.ts'

/** The errors of the HTTP API. */
export function errorCodesPage(): Page {
  return {
    title: 'Error codes',
    lists: 'the errors that the HTTP API answers with',
    source: 'server/src/api/api-error.ts',
    body: [
      'An error is `{"error": {"type", "code", "message", "request_id", …}}`. `code` is stable; `message` is for people and may say more than the text below. [`openapi.json`](../../openapi.json) lists the codes of each endpoint.',
      table(
        ['status', 'code', 'type', 'message'],
        Object.entries(API_ERRORS).map(([name, { status, type, message }]) => [
          String(status),
          code(name),
          code(type),
          message,
        ]),
      ),
    ],
  }
}
