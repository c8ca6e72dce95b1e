/**
 * What news mean for the questions that were asked: all open ones of the topic are asked again.
 *
 * Of a list of many pages only what has changed is: whoever has scrolled far does not load everything once more for one row.
 */
import type { Query, QueryFilters } from '@tanstack/react-query'
import { getJson } from './client.ts'
import type { Page } from './documents.ts'
import { live, type Notice } from './live.ts'
import { askWhoIAm } from './login.ts'
import { type Pages, type Row, renewedPages, touchedPages } from './long-lists.ts'
import { queryClient } from './queries.ts'

const COALESCE_MS = 100

/** It has pages, and somebody looks at it. */
const isLongList = (query: Query): boolean =>
  query.queryKey[1] === 'list' && query.isActive() && ((query.state.data as Pages | undefined)?.pages.length ?? 0) > 1

const renew = async (query: Query, changed: ReadonlySet<string>): Promise<void> => {
  const { queryKey, meta } = query
  try {
    // An answer that is under way would put an old page in the place of a renewed one.
    await query.promise
    const asked = touchedPages(query.state.data as Pages, changed)
    const ask = async (page: string) => [page, await getJson<Page<Row>>(`${meta?.['path']}${page}`)] as const
    const fresh = new Map(await Promise.all(asked.map(ask)))
    if (query.state.fetchStatus === 'idle')
      queryClient.setQueryData<Pages>(queryKey, (now) => now && renewedPages(now, fresh, changed))
    else await renew(query, changed)
  } catch {
    // The list says itself what is wrong.
    await queryClient.invalidateQueries({ queryKey })
  }
}

/** A first answer that is under way is not given up for a newer one, and may be older than the news: then it is asked for once more. */
const invalidate = (filters: QueryFilters): void => {
  const isUnanswered = ({ state }: Query): boolean => state.data === undefined && state.fetchStatus === 'fetching'
  for (const query of queryClient.getQueryCache().findAll(filters).filter(isUnanswered))
    void query.promise
      ?.finally(() => queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true }))
      .catch(() => {})
  void queryClient.invalidateQueries(filters)
}

let last: Promise<unknown> = Promise.resolve()

/** Rows of a topic have changed. One renewal after the other: no older answer comes after a newer one. */
export const askAgain = (topic: string, changed: ReadonlySet<string>): void => {
  const long = queryClient.getQueryCache().findAll({ queryKey: [topic], predicate: isLongList })
  invalidate({ queryKey: [topic], predicate: (query) => !long.includes(query) })
  last = last.then(() => Promise.all(long.map((query) => renew(query, changed))))
}

/** Rows that have changed; null: nobody knows which. */
type Changed = Set<string> | null

/** Many notices of one moment are one question. */
export const followNews = (): void => {
  const topics = new Map<string, Changed>()
  const ask = (): void => {
    const told = [...topics]
    topics.clear()
    // After a gap roles may be others, too.
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
