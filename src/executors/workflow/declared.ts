/**
 * Everything that a function declares around its code: what is checked and read before it, and what is sent, written and moved after it.
 *
 * Owns that order: input, state, lookups; work; documents, state, events. Everything after is an intent, written with the
 * function's result or not at all; only a move is made earlier, as a step of its own, because it may be refused.
 *
 * declared-1  What was read before is recorded: every later entry sees the same.
 * declared-2  A move that the machine does not list stops the run if the machine is enforced, and is only noted otherwise.
 * declared-3  A move is judged on the state that it starts from: moves that others made meanwhile are seen.
 */
import { chooseEmits, type Ending, emitData } from '#model/event/emits.ts'
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { at, type Json } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'
import { stepAddress } from '#model/run/step.ts'
import type { EntityMachine, PersistSpec, Roots, StateSpec, WorkflowSpec } from '#model/workflow/spec.ts'
import { judgeMove, judgeStart, type KeptState, SAME, stateOf, stateTable } from '#model/workflow/state-machine.ts'
import type { Entry } from '#ports/step-port.ts'

/** The addresses of the recorded steps; no author can use a loop key that begins like this. */
const BEFORE = stepAddress('trihand', '#before')
const MOVE = stepAddress('trihand', '#move')
const READ_TIMEOUT_MS = 30_000

export interface Before {
  readonly lookups: { readonly [name: string]: Json }
  readonly state: { readonly key: string; readonly state: string; readonly mismatch: string | null } | null
}

type Found = NonNullable<Before['state']>

const NOTHING_BEFORE: Before = { lookups: {}, state: null }

export const rootsOf = (entry: Entry, input: Json = entry.input): Roots => {
  const { event } = entry
  const root =
    event === null
      ? null
      : {
          id: event.id,
          source: event.source,
          type: event.type,
          subject: event.subject,
          time: event.time,
          data: event.data,
        }
  return {
    ...{ event: root, trigger: root, payload: input, output: null, result: null, agent: null, error: null },
    run: { id: entry.run, attempt: entry.attempt },
  }
}

const keyOf = ({ text, rule }: { readonly text: string; readonly rule: Rule }, roots: Roots, what: string): string => {
  const answer = rule(roots)
  if (answer.kind === 'error') throw new TrihandError('EXPR_FAILED', `${what} ${text}: ${answer.detail}`)
  const { value } = answer
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new TrihandError('EXPR_FAILED', `${what} ${text}: gives ${JSON.stringify(value)}, not a key`)
  return String(value)
}

const checkInput = (requires: readonly string[], input: Json): void => {
  const missing = requires.filter((path) => at(input, path.replace(/^payload\./, '')) == null)
  if (missing.length > 0) throw new TrihandError('INPUT_INVALID', `the input lacks ${missing.join(', ')}`)
}

const keptState = async (machine: EntityMachine, key: string, entry: Entry): Promise<KeptState | null> =>
  (await entry.document(stateTable(machine), key)) as unknown as KeptState | null

const stateBefore = async (spec: StateSpec, entry: Entry, roots: Roots): Promise<Found> => {
  const { machine, from } = spec
  const key = keyOf(spec.key, roots, `the key of ${machine.entity}`)
  const state = stateOf(machine, await keptState(machine, key, entry))
  return { key, state, mismatch: machine.enforce === 'off' ? null : judgeStart(machine, state, from) }
}

const requireDocument = async (
  { table, key }: NonNullable<WorkflowSpec['exists']>,
  entry: Entry,
  roots: Roots,
): Promise<void> => {
  const id = keyOf(key, roots, `the ${table} that must exist by`)
  if ((await entry.document(table, id)) === null) throw new TrihandError('INPUT_INVALID', `there is no ${table} ${id}`)
}

const read = async (spec: WorkflowSpec, entry: Entry, roots: Roots): Promise<Before> => {
  const lookups: Record<string, Json> = {}
  if (spec.exists !== null) await requireDocument(spec.exists, entry, roots)
  for (const { table, key, as } of spec.lookups)
    lookups[as] = await entry.document(table, keyOf(key, roots, `lookup ${as} by`))
  return { lookups, state: spec.state === null ? null : await stateBefore(spec.state, entry, roots) }
}

/** A step of our own, in addition to those of the code. */
const aside = (step: string, body: () => Promise<unknown>) =>
  ({ step, effect: 'idempotent', retry: DEFAULT_RETRY, timeoutMs: READ_TIMEOUT_MS, body }) as const

/** declared-1. Throws if the code must not begin. */
export const before = async (spec: WorkflowSpec, entry: Entry, roots: Roots): Promise<Before> => {
  checkInput(spec.requires, roots['payload'] ?? null)
  if (spec.lookups.length === 0 && spec.state === null && spec.exists === null) return NOTHING_BEFORE
  const found = (await entry.gate.run(aside(BEFORE, () => read(spec, entry, roots)))) as unknown as Before
  // declared-2
  if (found.state?.mismatch != null && spec.state?.machine.enforce === 'strict')
    throw new TrihandError('STATE_TRANSITION_INVALID', found.state.mismatch)
  return found
}

const persist = async ({ kind, table, key, value }: PersistSpec, entry: Entry, roots: Roots): Promise<void> => {
  const written = value(roots)
  const own = key === null ? at(written, 'id') : key(roots)
  const id = own == null || typeof own === 'object' ? null : String(own)
  if (kind === 'log') return entry.write(`log:${table}`, entry.effectKey(), written)
  if (id === null) throw new TrihandError('OUTPUT_INVALID', `persist ${kind} ${table}: the document has no id`)
  const members = written as { readonly [key: string]: Json }
  const present = kind === 'insert' ? null : ((await entry.document(table, id)) as typeof members | null)
  entry.write(table, id, { ...present, ...members })
}

/** The state at the start was judged then; a state that others have moved it to is judged now. */
const mayMove = ({ machine, from }: StateSpec, began: string, state: string, target: string): string | null => {
  if (machine.enforce === 'off') return null
  return (state === began ? null : judgeStart(machine, state, from)) ?? judgeMove(machine, state, target)
}

/** declared-3: judges and moves again until no other move comes between. Returns what was wrong with the move; null: the entity is in that state. */
const moveTo = async (spec: StateSpec, found: Found, target: string, entry: Entry): Promise<string | null> => {
  const { machine } = spec
  const { key } = found
  const table = stateTable(machine)
  let problem: string | null = null
  await entry.move({ table, key }, (document) => {
    const kept = document as unknown as KeptState | null
    // An attempt of this very run has moved it, but its answer was lost.
    if (kept?.run === entry.run && kept.state === target) return null
    const from = stateOf(machine, kept)
    problem = mayMove(spec, found.state, from, target)
    if (problem !== null || from === target) return null
    return { table, key, entity: machine.entity, version: kept?.version ?? 0, from, to: target }
  })
  return problem
}

const move = async (spec: StateSpec, found: Found, entry: Entry, roots: Roots): Promise<void> => {
  const { machine, to } = spec
  const target = to === null ? SAME : String(to(roots))
  if (target === SAME || target === found.state) return
  const problem = (await entry.gate.run(aside(MOVE, () => moveTo(spec, found, target, entry)))) as string | null
  if (problem !== null && machine.enforce === 'strict') throw new TrihandError('STATE_TRANSITION_INVALID', problem)
}

/** The events and writes of a success. If it throws, the run fails; the effects of its steps remain. */
export const after = async (
  spec: WorkflowSpec,
  entry: Entry,
  found: Before,
  { roots, ending }: { readonly roots: Roots; readonly ending: Ending },
): Promise<void> => {
  for (const one of spec.persist) await persist(one, entry, roots)
  for (const emit of chooseEmits(spec.emits ?? [], { ending, hasSent: entry.hasTold(), roots })) {
    const { event, delayMs } = emit
    entry.emit({ type: event, data: emitData(emit, roots), subject: null, ...(delayMs === null ? {} : { delayMs }) })
  }
  // Last, when nothing else can fail.
  if (spec.state !== null && found.state !== null) await move(spec.state, found.state, entry, roots)
}
