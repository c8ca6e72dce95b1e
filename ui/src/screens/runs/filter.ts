/** The filter of the list of runs, as it is in the URL. */
import type { RunFilter } from '../../api/queries.ts'
import type { Terms } from '../../parts/terms.ts'

export const FILTER_KEYS = ['status', 'handler', 'session'] as const

/** The filter terms of the URL, without its other parameters. */
export const filterOf = ({ status, handler, session }: RunFilter): Terms => ({
  ...(status === undefined ? {} : { status }),
  ...(handler === undefined ? {} : { handler }),
  ...(session === undefined ? {} : { session }),
})

export const isFiltered = (filter: RunFilter): boolean => Object.keys(filterOf(filter)).length > 0
