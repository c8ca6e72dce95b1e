/**
 * Reads what a run works on, from where its first fact says it is: its event, several events, or a value of its own.
 *
 * Owns reading. Never changes what was stored.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Occasion, RunInput } from '#model/run/fact.ts'
import type { ScheduleContext } from '#ports/step-port.ts'

export interface RunInputs {
  readonly input: Json
  /** The events that started it, oldest first. */
  readonly events: readonly StoredEvent[]
  readonly schedule: ScheduleContext | null
}

export const NO_INPUTS: RunInputs = { input: null, events: [], schedule: null }

type Store = Pick<EngineContext, 'ledger' | 'blobs' | 'ids'>

export const readInputs = async (
  context: Store,
  { tenant, event }: { readonly tenant: TenantId; readonly event: StoredEvent | null },
  input: RunInput,
): Promise<RunInputs> => {
  switch (input.kind) {
    case 'event':
      return { input: event?.data ?? null, events: event === null ? [] : [whole(event)], schedule: null }
    case 'events': {
      const { sequences } = input
      const events = (await context.ledger.events({ tenant, sequences, limit: sequences.length })).map(whole)
      return { input: events.map(({ data }) => data), events, schedule: null }
    }
    case 'given':
      return { input: await fetchValue(context, input.payload), events: [], schedule: null }
    case 'scheduled': {
      const schedule = await scheduleContext(context, input.occasion)
      return { input: await fetchValue(context, input.payload), events: [], schedule }
    }
  }
}

const whole = (event: StoredEvent): StoredEvent => {
  if (event.broken !== undefined) throw new TrihandError('PAYLOAD_BROKEN', event.broken)
  return event
}

const scheduleContext = async (
  context: Store,
  { schedule: name, slot, last, missed }: Occasion,
): Promise<ScheduleContext> => {
  if (last === null) return { name, slot, missed, last }
  const output = last.output === null ? null : await fetchValue(context, last.output)
  return { name, slot, missed, last: { ...last, output } }
}
