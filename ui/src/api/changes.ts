/**
 * Refetches the open queries of a topic when the server sends a notice about it.
 *
 * In a list of many pages only the changed pages are refetched (long-lists.ts).
 */
import type { Query, QueryFilters } from '@tanstack/react-query'
import { getJson } from './client.ts'
import type { Page } from './documents.ts'
import { live, type Notice } from './live.ts'
import { askWhoIAm } from './login.ts'
import { type Pages, type Row, renewedPages, touchedPages } from './long-lists.ts'
import { queryClient } from './queries.ts'

const COALESCE_MS = 100

/** A list with more than one page that is on the screen. */
const isLongList = (query: Query): boolean =>
  query.queryKey[1] === 'list' && query.isActive() && ((query.state.data as Pages | undefined)?.pages.length ?? 0) > 1

const renew = async (query: Query, changed: ReadonlySet<string>): Promise<void> => {
  const { queryKey, meta } = query
  try {
    // Wait for a fetch in progress: it would overwrite a refreshed page with an older one.
    await query.promise
    const asked = touchedPages(query.state.data as Pages, changed)
    const ask = async (page: string) => [page, await getJson<Page<Row>>(`${meta?.['path']}${page}`)] as const
    const fresh = new Map(await Promise.all(asked.map(ask)))
    if (query.state.fetchStatus === 'idle')
      queryClient.setQueryData<Pages>(queryKey, (now) => now && renewedPages(now, fresh, changed))
    else await renew(query, changed)
  } catch {
    // The refetch shows the error in the list.
    await queryClient.invalidateQueries({ queryKey })
  }
}

/** A first fetch in progress is not cancelled, and its result may be older than the notice. Such a query is refetched when it has finished. */
const invalidate = (filters: QueryFilters): void => {
  const isUnanswered = ({ state }: Query): boolean => state.data === undefined && state.fetchStatus === 'fetching'
  for (const query of queryClient.getQueryCache().findAll(filters).filter(isUnanswered))
    void query.promise
      ?.finally(() => queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true }))
      .catch(() => {})
  void queryClient.invalidateQueries(filters)
}

let last: Promise<unknown> = Promise.resolve()

/** Refetches a topic after some of its rows changed. Runs one refresh after the other, so that an old answer never replaces a newer one. */
export const askAgain = (topic: string, changed: ReadonlySet<string>): void => {
  const long = queryClient.getQueryCache().findAll({ queryKey: [topic], predicate: isLongList })
  invalidate({ queryKey: [topic], predicate: (query) => !long.includes(query) })
  last = last.then(() => Promise.all(long.map((query) => renew(query, changed))))
}

/** The ids of changed rows. Null: unknown. */
type Changed = Set<string> | null

/** Collects the notices of 100 ms into one refetch. */
export const followChanges = (): void => {
  const topics = new Map<string, Changed>()
  const ask = (): void => {
    const told = [...topics]
    topics.clear()
    // After a gap in the stream the roles may have changed, too.
    if (told.some(([topic]) => topic === '*')) {
      void askWhoIAm()
      invalidate({})
      return
    }
    for (const [topic, changed] of told)
      if (changed === null) invalidate({ queryKey: [topic] })
      else askAgain(topic, changed)
  }
  live.subscribe(({ topic, id }: Notice) => {
    if (topics.size === 0) setTimeout(ask, COALESCE_MS)
    const known = topics.get(topic)
    if (id === null || known === null) topics.set(topic, null)
    else topics.set(topic, (known ?? new Set()).add(id))
  })
}
