/**
 * Lists on the command line: their query string, and one page of items in any of the three output forms.
 *
 * Owns the shape of a listing, so that all of them behave alike. Never knows what is listed.
 */
import type { Page } from '#http/server/query.ts'
import { EXIT, type Output, visible } from './output.ts'

/** The given parameters as a query string. */
export const queryText = (parameters: Readonly<Record<string, string | undefined>>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value)
  return query.size === 0 ? '' : `?${query}`
}

export interface Listing<Item> {
  readonly row: (item: Item) => readonly string[]
  readonly id: (item: Item) => string
  readonly empty: string
  /** The command that prints the next page. */
  readonly command: string
}

export const printPage = <Item>(output: Output, page: Page<Item>, listing: Listing<Item>): number => {
  if (output.isJson) output.document(page)
  else if (output.isQuiet) for (const item of page.items) output.line(visible(listing.id(item)))
  else output.table(page.items.map(listing.row))
  if (!output.isJson && page.items.length === 0) output.talk(listing.empty)
  if (!output.isJson && page.next_cursor !== null)
    output.talk(visible(`more: ${listing.command} --cursor ${page.next_cursor}`))
  return EXIT.done
}
