import { API_ERRORS, type ErrorCode } from '../../server/src/api/api-error.ts'
import { codesOf } from '../../server/src/api/openapi/openapi.ts'
import { routes } from '../../server/src/api/routes.ts'
import { code, codes, type Page, table } from './markdown.ts'

/** The errors of the HTTP API, each under a heading that the `docs` of an error leads to. */
export function errorCodesPage(): Page {
  const all = Object.keys(API_ERRORS) as ErrorCode[]
  return {
    title: 'Error codes',
    lists: 'the errors that the HTTP API answers with',
    source: 'server/src/api/api-error.ts',
    body: [
      'An error is `{"error": {"type", "code", "message", "docs", "request_id", …}}`. `code` is stable; `message` is for people and may say more than the text below; `docs` leads to the heading of its code on this page.',
      table(
        ['status', 'code', 'type'],
        all.map((name) => [String(API_ERRORS[name].status), `[${code(name)}](#${name})`, code(API_ERRORS[name].type)]),
      ),
      ...all.flatMap((name) => [
        `## ${name}`,
        `${API_ERRORS[name].status}. ${API_ERRORS[name].message}`,
        endpointsOf(name),
      ]),
    ],
  }
}

function endpointsOf(name: ErrorCode): string {
  const answering = routes.filter((endpoint) => codesOf(endpoint).includes(name))
  if (answering.length === 0) return 'Comes before a request has reached an endpoint.'
  if (answering.length === routes.length) return 'From any endpoint.'
  return `From ${codes(answering.map(({ operationId }) => operationId))}.`
}
