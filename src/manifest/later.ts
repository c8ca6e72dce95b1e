/**
 * The one function that every system has: it sends an event when its time has come.
 *
 * Owns its name and its definition. A delayed event is a run of it that may begin at that instant: durable, visible and cancelled
 * like any run, and the event is there with its end. No user can give a function this name: it has a dot.
 */
import type { Json } from '../model/json.ts'
import { ANYWHERE } from '../model/placement.ts'
import { DEFAULT_RETRY } from '../model/policies/retry.ts'
import { PLAIN } from '../model/workflow-spec.ts'
import type { FunctionDefinition } from './system.ts'

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

export const laterFunction: FunctionDefinition = {
  name: LATER,
  modality: 'workflow',
  code: send,
  effect: 'idempotent',
  retry: DEFAULT_RETRY,
  timeoutMs: 60_000,
  deadline: { startMs: null, finishMs: null },
  allowReentry: 0,
  input: null,
  output: null,
  placement: ANYWHERE,
  circuit: null,
  module: null,
  workflow: PLAIN,
  constraints: {},
  cancelOn: [],
  flow: null,
}
