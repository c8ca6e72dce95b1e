/** `trihand pools list`, `circuits list|reset`, `stop`, `go`: pools, circuit breakers, and the stop of all work. */
import { withApi } from '#cli/connect/connect.ts'
import { confirmed } from '#cli/terminal/confirm.ts'
import { type Listing, printPage } from '#cli/terminal/listing.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { Circuit, Pool, Stop } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'

export interface CircuitFlags extends CommonFlags {
  readonly key: string
}

export interface StopFlags extends CommonFlags {
  readonly reason?: string
  readonly yes?: boolean
}

const NO_POOL = '(none)'

const POOLS: Listing<Pool> = {
  row: (pool) => [
    pool.name ?? NO_POOL,
    `${pool.taking}/${pool.workers} workers`,
    `${pool.used}/${pool.capacity} slots`,
    `${pool.queued}${pool.more ? '+' : ''} waiting`,
    pool.oldest_at ?? '-',
    Object.entries(pool.labels)
      .map(([label, value]) => `${label}=${value}`)
      .join(','),
  ],
  id: ({ name }) => name ?? NO_POOL,
  empty: 'No pools.',
  command: 'trihand pools list',
}

const CIRCUITS: Listing<Circuit> = {
  row: ({ key, status, until, openings, handlers }) => [
    key,
    status,
    until ?? '-',
    `${openings} openings`,
    handlers.join(','),
  ],
  id: ({ key }) => key,
  empty: 'No circuit breakers.',
  command: 'trihand circuits list',
}

/** Pools and circuit breakers are declared in the system, so it must be loaded if no server runs. */
const KNOW = { need: 'know' } as const
const LOOK = { need: 'look' } as const

export const listPools: Verb<CommonFlags> = async (shell, flags) => {
  const page = await withApi(shell, flags, KNOW, (api) => api.get<Page<Pool>>('/api/pools'))
  return printPage(shell.output, page, POOLS)
}

export const listCircuits: Verb<CommonFlags> = async (shell, flags) => {
  const page = await withApi(shell, flags, KNOW, (api) => api.get<Page<Circuit>>('/api/circuits'))
  return printPage(shell.output, page, CIRCUITS)
}

export const resetCircuit: Verb<CircuitFlags> = async (shell, flags) => {
  const path = `/api/circuits/${encodeURIComponent(flags.key)}/reset`
  const circuit = await withApi(shell, flags, KNOW, (api) => api.post<Circuit>(path, {}))
  if (shell.output.isJson) shell.output.document(circuit)
  else shell.output.line(visible(`${circuit.key} is ${circuit.status}`))
  return EXIT.done
}

const print = (output: Output, stop: Stop): void => {
  if (output.isJson) return output.document(stop)
  const why = stop.reason === null ? '' : ` (${stop.reason})`
  output.line(visible(stop.is_stopped ? `stopped by ${stop.by} at ${stop.at}${why}` : 'work is not stopped'))
  if (stop.is_stopped) output.talk('No worker starts a step; running steps finish. Resume with `trihand go`.')
}

export const stopEverything: Verb<StopFlags> = async (shell, flags) => {
  const { output } = shell
  const question = { text: 'No worker will start a step until `trihand go`.', word: 'stop', flag: '--yes' }
  if (flags.yes !== true && !(await confirmed(output, question))) {
    output.talk('nothing was stopped')
    return EXIT.no
  }
  const body = flags.reason === undefined ? {} : { reason: flags.reason }
  print(output, await withApi(shell, flags, LOOK, (api) => api.post<Stop>('/api/stop', body)))
  return EXIT.done
}

export const goOn: Verb<CommonFlags> = async (shell, flags) => {
  print(shell.output, await withApi(shell, flags, LOOK, (api) => api.post<Stop>('/api/stop/lift', {})))
  return EXIT.done
}
