import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { showError } from './messages.ts'
import { isOutage, outageWatch } from './outage.ts'

/** Creates the cache of the server's answers; `onSignedOut` is called when an answer says that the session has ended. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const handle = (error: Error, quiet: boolean) => {
    if (error instanceof ApiError && error.status === 401 && error.code === 'not_signed_in') onSignedOut()
    else if (isOutage(error)) outageWatch.failed()
    else if (!quiet) showError(error)
  }
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => handle(error, query.state.data === undefined) }),
    mutationCache: new MutationCache({
      onError: (error, _input, _context, mutation) => handle(error, mutation.meta?.showsErrors === true),
    }),
    defaultOptions: {
      // Otherwise calls of a browser that is offline would wait without a word.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: 5_000,
        retry: (failures, error) => error instanceof ApiError && failures < retriesOf(error),
      },
    },
  })
  // What failed meanwhile is read again once the server answers.
  outageWatch.subscribe(() => {
    if (!outageWatch.current()) void client.invalidateQueries()
  })
  return client
}

/** How often a read is tried again, after one second, then two, four …; the previous answer stays on the page meanwhile. */
function retriesOf({ status, code }: ApiError): number {
  // Others of the organization use the threads for policies: most answers come within a few seconds.
  if (status === 429 && code === 'busy') return 4
  return [0, 500, 503].includes(status) ? 2 : 0
}
