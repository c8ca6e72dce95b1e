/** What a list of runs can be filtered by, as the address has it. */
import type { RunFilter } from '../../api/queries.ts'
import type { Terms } from '../../parts/terms.ts'

export const FILTER_KEYS = ['status', 'handler', 'session'] as const

/** The terms that are there, and nothing else of the address. */
export const filterOf = ({ status, handler, session }: RunFilter): Terms => ({
  ...(status === undefined ? {} : { status }),
  ...(handler === undefined ? {} : { handler }),
  ...(session === undefined ? {} : { session }),
})

export const isFiltered = (filter: RunFilter): boolean => Object.keys(filterOf(filter)).length > 0
