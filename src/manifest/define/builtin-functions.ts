/**
 * Functions that every system has in addition to those of its author.
 *
 * Owns how their names differ from an author's and what their definitions have in common. No user can give a function such a name, because
 * it has a dot. They are part of neither the hash of a system nor its graph.
 */
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import { ANYWHERE } from '#model/worker/placement.ts'
import { PLAIN } from '#model/workflow/spec.ts'
import type { FunctionDefinition } from './system.ts'

/** Applies a command to many runs, one page after the other. */
export const BULK = 'trihand.bulk'

const PREFIX = 'trihand.'

/** The name of a function, or of a table. */
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
