/**
 * `trihand triggers list|test|replay|install|remove`: lists triggers, shows what an event would start, replays deliveries, and installs or
 * removes the triggers in a user's own database.
 */
import type { Api } from '#cli/connect/api.ts'
import { liveServer, withApi } from '#cli/connect/connect.ts'
import { codeFolder } from '#cli/connect/settings.ts'
import { loadSystem } from '#cli/manifest/load-system.ts'
import { parseJson } from '#cli/terminal/json-argument.ts'
import { type Listing, printPage } from '#cli/terminal/listing.ts'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Shell, Verb } from '#cli/terminal/shell.ts'
import { changeTables } from '#compose/outboxes.ts'
import type { Receipt } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import type { TriggerRow } from '#triggers/list.ts'

const LISTING: Listing<TriggerRow> = {
  row: ({ kind, name, handler, event, filter }) => [kind, name, handler ?? `sends ${event}`, filter ?? ''],
  id: ({ name }) => name,
  empty: 'The system has no triggers.',
  command: 'trihand triggers list',
}

/** Only the definition is needed: without a server a ledger in memory is used, so that no waiting run is resumed. */
const justAsk = async <T>(shell: Shell, flags: CommonFlags, work: (api: Api) => Promise<T>): Promise<T> => {
  const { server, dataFolder } = shell.settings
  const isServed = (flags.server ?? server) !== undefined || (await liveServer(dataFolder)) !== null
  return withApi(shell, isServed ? flags : { ...flags, database: 'memory:' }, { need: 'work' }, work)
}

export const listTriggers: Verb<CommonFlags> = async (shell, flags) => {
  const page = await justAsk(shell, flags, (api) => api.get<Page<TriggerRow>>('/api/triggers'))
  return printPage(shell.output, page, LISTING)
}

export interface TestFlags extends CommonFlags {
  readonly name: string
  readonly data?: string
  readonly source?: string
}

interface Rehearsal {
  readonly event: { readonly type: string; readonly data: unknown }
  readonly starts: readonly string[]
  readonly suppressed: readonly { readonly trigger: string; readonly reason: string; readonly detail: string }[]
}

export const testTrigger: Verb<TestFlags> = async (shell, flags) => {
  const { output } = shell
  const { name, source } = flags
  const data = flags.data === undefined ? {} : parseJson(flags.data, 'the data')
  const body = { name, data, ...(source === undefined ? {} : { source }) }
  const found = await justAsk(shell, flags, (api) => api.post<Rehearsal>('/api/triggers/test', body))
  if (output.isJson) output.document(found)
  else {
    output.line(visible(`${found.event.type} ${JSON.stringify(found.event.data)}`))
    output.table([
      ...found.starts.map((handler) => [handler, 'starts', '']),
      ...found.suppressed.map(({ trigger, reason, detail }) => [trigger, reason, detail]),
    ])
  }
  return EXIT.done
}

export interface ReplayFlags extends CommonFlags {
  readonly name: string
  readonly delivery: string
}

export const replayDelivery: Verb<ReplayFlags> = async (shell, flags) => {
  const path = `/api/webhooks/${encodeURIComponent(flags.name)}/replay`
  const { delivery } = flags
  const receipt = await withApi(shell, flags, { need: 'work' }, (api) => api.post<Receipt>(path, { delivery }))
  if (shell.output.isJson) shell.output.document(receipt)
  else shell.output.line(visible(`event ${receipt.id} is stored, number ${receipt.sequence}`))
  return EXIT.done
}

export interface TableFlags {
  readonly path?: string
  /** Only this table. */
  readonly table?: string
}

const change = async (shell: Shell, { path, table }: TableFlags, action: 'install' | 'remove'): Promise<number> => {
  const { source } = await loadSystem(path, codeFolder(shell.settings))
  const changed = await changeTables(source, action, table ?? null)
  if (shell.output.isJson) shell.output.document({ action, tables: changed })
  else
    for (const name of changed)
      shell.output.line(visible(`${action === 'install' ? 'watching' : 'removed from'} ${name}`))
  if (changed.length === 0) shell.output.talk('No function has a trigger on a matching table.')
  return EXIT.done
}

export const installTables: Verb<TableFlags> = (shell, flags) => change(shell, flags, 'install')
export const removeTables: Verb<TableFlags> = (shell, flags) => change(shell, flags, 'remove')
