/**
 * The intents of a body: events, documents and memory that are to be written together with its result.
 *
 * Owns how intents become side writes for the result's append. Never writes one itself.
 */
import { causeFrom } from '#engine/core/cause.ts'
import { emittedBy } from '#engine/core/events.ts'
import { storeValue } from '#engine/core/payloads.ts'
import { requireKey } from '#engine/core/row-key.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import type { SideWrites } from '#engine/run/run-request.ts'
import { SessionHead } from '#engine/services/session-head.ts'
import { sessionWrites } from '#engine/services/session-writes.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { SessionId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'
import { DOCUMENT_KEY, DOCUMENT_TABLE } from '#model/kernel/row-key.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import type { EmittedEvent } from '#ports/step-port.ts'
import { definitionOf, requireTable } from './permissions.ts'

/** Each list is created on first use, because most bodies have no intents. */
export class Intents {
  private sent: EmittedEvent[] | null = null
  private written: DocumentWrite[] | null = null
  private remembered: Map<string, Json> | null = null

  get events(): EmittedEvent[] {
    this.sent ??= []
    return this.sent
  }

  get documents(): DocumentWrite[] {
    this.written ??= []
    return this.written
  }

  /** Null removes the key. */
  get memory(): Map<string, Json> {
    this.remembered ??= new Map()
    return this.remembered
  }

  get isEmpty(): boolean {
    return !this.sends && (this.written?.length ?? 0) === 0 && (this.remembered?.size ?? 0) === 0
  }

  get sends(): boolean {
    return this.sent !== null && this.sent.length > 0
  }
}

type Members = { readonly [key: string]: Json }
const isMembers = (value: Json | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listAt = (result: Json, key: string): readonly Members[] => {
  const list = isMembers(result) ? result[key] : undefined
  if (list === undefined) return []
  if (!Array.isArray(list) || !list.every(isMembers))
    throw new TrihandError('OUTPUT_INVALID', `${key} must be a list of objects`)
  return list
}

const textAt = (members: Members, key: string, place: string): string => {
  const text = members[key]
  if (typeof text !== 'string' || text === '')
    throw new TrihandError('OUTPUT_INVALID', `${place}.${key} must be a text`)
  return text
}

/** Reads the intents in a task's result: `db_writes` and `emitted_events`. Null if there are none. */
export const intentsOf = (tenant: TenantId, result: Json): Intents | null => {
  const intents = new Intents()
  for (const write of listAt(result, 'db_writes')) {
    const [table, key] = [textAt(write, 'table', 'db_writes'), textAt(write, 'key', 'db_writes')]
    intents.documents.push({ tenant, table, key, value: write['value'] ?? null })
  }
  for (const event of listAt(result, 'emitted_events')) {
    const subject = event['subject'] === undefined ? null : textAt(event, 'subject', 'emitted_events')
    intents.events.push({ type: textAt(event, 'type', 'emitted_events'), data: event['data'] ?? {}, subject })
  }
  return intents.isEmpty ? null : intents
}

export const packIntents = async (activeRun: ActiveRun, key: string, intents: Intents): Promise<SideWrites> => {
  const { context, record } = activeRun
  const definition = definitionOf(context, record.handler)
  for (const { table, key } of intents.documents) {
    requireTable(definition, table)
    requireKey(DOCUMENT_TABLE, table)
    requireKey(DOCUMENT_KEY, key)
  }
  const sender = { ...record, run: record.id, cause: causeFrom(record, activeRun.state), definition }
  const outgoing = await emittedBy(context, sender, intents.events)
  const memory = await packMemory(activeRun, key, intents.memory)
  const documents = intents.documents.map((write) => ({ ...write, value: context.redaction.value(write.value) }))
  return { ...outgoing, documents, memory }
}

const packMemory = async (
  activeRun: ActiveRun,
  key: string,
  memory: ReadonlyMap<string, Json>,
): Promise<SideWrites['memory']> => {
  if (memory.size === 0) return null
  await requireSession(activeRun)
  const set: Record<string, Payload> = {}
  const unset: string[] = []
  for (const [name, value] of memory) {
    if (value === null) unset.push(name)
    else set[name] = (await storeValue(activeRun.context, value)).payload
  }
  return { key, set, unset }
}

const sessionIdOf = ({ record }: ActiveRun): SessionId => {
  if (record.session !== null) return record.session
  throw new TrihandError('SESSION_STATE_INVALID', 'the run has no session; start it with one')
}

/** Refuses a write to a session that does not exist. Reads the session only if this process does not know it. */
const requireSession = async (activeRun: ActiveRun): Promise<void> => {
  const id = sessionIdOf(activeRun)
  if (activeRun.session === null && sessionWrites(activeRun.context).isOpen(id)) return
  await sessionOf(activeRun)
}

/** Returns the session's head, loaded once while the run is in memory. If two steps load it at once, the first result is kept. */
export const sessionOf = async (activeRun: ActiveRun): Promise<SessionHead> => {
  const head = activeRun.session ?? (await SessionHead.load(activeRun.context, sessionIdOf(activeRun)))
  activeRun.session ??= head
  return activeRun.session
}
