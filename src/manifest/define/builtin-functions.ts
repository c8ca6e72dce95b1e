/**
 * Functions that every system has beside those of its author.
 *
 * Owns how their names are told from an author's and what their definitions have in common. No user can give a function such a name:
 * it has a dot. They are no part of the hash of a system, nor of its graph.
 */
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import { ANYWHERE } from '#model/worker/placement.ts'
import { PLAIN } from '#model/workflow/spec.ts'
import type { FunctionDefinition } from './system.ts'

/** Speaks to many runs, one page after the other. */
export const BULK = 'trihand.bulk'

const PREFIX = 'trihand.'

/** Of a function, or of a table. */
export const isOwn = (name: string): boolean => name.startsWith(PREFIX)

export const ownFunction = (name: string, code: unknown): FunctionDefinition => ({
  name,
  modality: 'workflow',
  code,
  effect: 'idempotent',
  retry: DEFAULT_RETRY,
  timeoutMs: 60_000,
  deadline: { startMs: null, finishMs: null },
  allowReentry: 0,
  internal: false,
  input: null,
  output: null,
  placement: ANYWHERE,
  circuit: null,
  module: null,
  workflow: PLAIN,
  constraints: {},
  cancelOn: [],
  flow: null,
})
