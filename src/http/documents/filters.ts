/** Schemas of saved filters on the wire. */
import { closed, described, instant, mapOf, record, text, whole, words } from '#http/openapi/schema.ts'
import { FILTER_SCREENS } from '#model/kernel/saved-filter.ts'

const spec = {
  name: text,
  screen: words(FILTER_SCREENS),
  terms: described('each a parameter of the list', mapOf(text)),
}

export const filterComponents = {
  SavedFilter: record({
    id: text,
    ...spec,
    version: described('what If-Match names', whole),
    created_at: instant,
    updated_at: instant,
  }),
}

export const SAVE_FILTER = closed(spec)
