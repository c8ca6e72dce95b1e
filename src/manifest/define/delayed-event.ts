/**
 * A function that every system has: it sends an event at a given time.
 *
 * Owns its name and its code. A delayed event is a run of this function that may begin at that instant: durable, visible and cancelled
 * like any run, and the event exists once the run ends.
 */
import type { Json } from '#model/kernel/json.ts'
import { ownFunction } from './builtin-functions.ts'
export const LATER = 'trihand.later'

interface Due {
  readonly input: Json
  emit(type: string, data: Json, options: { readonly subject?: string }): void
}

const send = ({ input, emit }: Due): string => {
  const { type, data, subject } = input as {
    readonly type: string
    readonly data: Json
    readonly subject: string | null
  }
  emit(type, data, subject === null ? {} : { subject })
  return type
}

export const laterFunction = ownFunction(LATER, send)
