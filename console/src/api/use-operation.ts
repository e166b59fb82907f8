import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ApiError } from './api-error.ts'
import { call, callAccount, callOpen } from './call.ts'
import type { AccountName, InputOf, OpenName, OutputOf, PagedName, PlaceName } from './operation-types.ts'
import { usePlace } from './use-place.ts'
import { type ActOptions, useSending } from './use-sending.ts'

/** How a read behaves. */
export interface ReadOptions {
  /** False while the input is not complete. */
  enabled?: boolean
  /** Asks again after so many milliseconds. */
  refetchIntervalMs?: number
}

const REFETCHED_PAGES_MAX = 2

/** Reads within the organization and environment of the URL. The previous answer stays while a changed input loads. */
export function useOperation<N extends PlaceName>(
  name: N,
  input: InputOf<N>,
  { enabled = true, refetchIntervalMs }: ReadOptions = {},
): UseQueryResult<OutputOf<N>, ApiError> {
  const place = usePlace()
  return useQuery<OutputOf<N>, ApiError>({
    queryKey: [place.organizationId, place.environment, name, input],
    // A slider that moves on leaves the answer to its earlier value: the request ends, and the server's work with it.
    queryFn: ({ signal }) => call(place, name, input, { signal }),
    placeholderData: (previous, query) =>
      query?.queryKey[0] === place.organizationId && query.queryKey[1] === place.environment ? previous : undefined,
    enabled,
    ...(refetchIntervalMs && { refetchInterval: refetchIntervalMs }),
  })
}

/** Reads a list page by page: `fetchNextPage` asks with the `next_cursor` of the last answer. */
export function usePages<N extends PagedName>(
  name: N,
  input: Omit<InputOf<N>, 'cursor'>,
  { refetchIntervalMs }: Pick<ReadOptions, 'refetchIntervalMs'> = {},
) {
  const place = usePlace()
  // Every refetch asks for all pages that are loaded, so a long list is refreshed only by hand.
  const isShort = ({ state }: { state: { data?: unknown } }) =>
    ((state.data as { pages: unknown[] } | undefined)?.pages.length ?? 0) <= REFETCHED_PAGES_MAX
  return useInfiniteQuery({
    queryKey: [place.organizationId, place.environment, name, input, 'pages'],
    queryFn: ({ pageParam }) => call(place, name, { ...input, ...(pageParam && { cursor: pageParam }) } as InputOf<N>),
    initialPageParam: '',
    getNextPageParam: (last: OutputOf<N>) => (last as { next_cursor: string | null }).next_cursor ?? undefined,
    refetchInterval: (query) => (refetchIntervalMs && isShort(query) ? refetchIntervalMs : false),
    refetchOnWindowFocus: isShort,
    refetchOnReconnect: isShort,
    refetchOnMount: isShort,
  })
}

/** Reads about the caller's own account. */
export function useAccountOperation<N extends AccountName>(
  name: N,
  input: InputOf<N>,
  { enabled = true }: ReadOptions = {},
): UseQueryResult<OutputOf<N>, ApiError> {
  return useQuery<OutputOf<N>, ApiError>({
    queryKey: ['account', name, input],
    queryFn: () => callAccount(name, input),
    placeholderData: keepPreviousData,
    enabled,
  })
}

/** Reads what is open to callers without a session. */
export function useOpenOperation<N extends OpenName>(
  name: N,
  input: InputOf<N>,
  { enabled = true }: ReadOptions = {},
): UseQueryResult<OutputOf<N>, ApiError> {
  return useQuery<OutputOf<N>, ApiError>({
    queryKey: ['open', name, input],
    queryFn: () => callOpen(name, input),
    enabled,
  })
}

/** Acts within the organization and environment of the URL, then reads again what the page shows. */
export function useAct<N extends PlaceName>(name: N, options: ActOptions<InputOf<N>, OutputOf<N>> = {}) {
  const place = usePlace()
  return useSending((input: InputOf<N>, idempotencyKey) => call(place, name, input, { idempotencyKey }), options)
}

/** Acts on the caller's own account. */
export function useAccountAct<N extends AccountName>(name: N, options: ActOptions<InputOf<N>, OutputOf<N>> = {}) {
  return useSending((input: InputOf<N>, idempotencyKey) => callAccount(name, input, { idempotencyKey }), options)
}

/** Acts without a session: signing in, accepting an invitation. */
export function useOpenAct<N extends OpenName>(name: N, options: ActOptions<InputOf<N>, OutputOf<N>> = {}) {
  return useSending((input: InputOf<N>) => callOpen(name, input), options)
}
