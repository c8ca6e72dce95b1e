/**
 * Refreshes an open list of many pages: refetches only the first page, where new rows appear, and the pages with a changed row.
 *
 * Pure. Rows keep their order and their pages. A row that a new one pushes out of the first page stays in the list.
 */
import type { InfiniteData } from '@tanstack/react-query'
import type { Page } from './documents.ts'

export interface Row {
  readonly id: string
}

export type Pages = InfiniteData<Page<Row>, string>

const idsOf = (pages: readonly Page<Row>[]): ReadonlySet<string> =>
  new Set(pages.flatMap(({ items }) => items.map(({ id }) => id)))

/** The cursors of the pages to refetch. */
export const touchedPages = ({ pages, pageParams }: Pages, changed: ReadonlySet<string>): readonly string[] =>
  pageParams.filter((_, i) => i === 0 || pages[i]?.items.some(({ id }) => changed.has(id)) === true)

const renewedPage = (
  old: Page<Row>,
  fresh: Page<Row>,
  { changed, later }: { readonly changed: ReadonlySet<string>; readonly later: readonly Page<Row>[] },
): Page<Row> => {
  const [here, there] = [idsOf([fresh]), idsOf(later)]
  const pushedOut = old.items.filter(({ id }) => !here.has(id) && !changed.has(id) && !there.has(id))
  return {
    items: [...fresh.items.filter(({ id }) => !there.has(id)), ...pushedOut],
    next_cursor: pushedOut.length > 0 || later.length > 0 ? old.next_cursor : fresh.next_cursor,
  }
}

/** The list with the fresh pages in place of the old ones. Each row appears once. */
export const renewedPages = (
  data: Pages,
  fresh: ReadonlyMap<string, Page<Row>>,
  changed: ReadonlySet<string>,
): Pages => {
  const pages = [...data.pages]
  // Start at the end: if two pages have a row, the later page keeps it.
  for (const [i, old] of [...pages.entries()].reverse()) {
    const now = fresh.get(data.pageParams[i] ?? '')
    if (now !== undefined) pages[i] = renewedPage(old, now, { changed, later: pages.slice(i + 1) })
  }
  return { pages, pageParams: data.pageParams }
}
