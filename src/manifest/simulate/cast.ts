/**
 * Replaces every handler of a manifest by a stand-in: a function that makes data of the declared shape and sends what the handler may send.
 *
 * Owns the choice among paths and what a stand-in returns. The engine is the real one: filters, flow control, chains and limits apply.
 */
import type { SystemSource } from '#manifest/define/define.ts'
import { outputSchemaOf } from '#manifest/lint/schemas.ts'
import {
  field,
  type HandlerEntry,
  type MachineEntry,
  type Manifest,
  sentBy,
  startingTypes,
} from '#manifest/yaml/manifest.ts'
import { defined, isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import { sourceOf } from '#manifest/yaml/source.ts'
import { STARTING } from '#manifest/yaml/trigger-source.ts'
import type { Json } from '#model/kernel/json.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'
import { type Roll, sampleOf } from './sample.ts'
import { actionsOf, eventSchema, type Line, linesOf, type Part, partsIn, routingOf, wantedOf } from './script.ts'
import { type Roots, solve, valueIn } from './solve.ts'

/*
 * Entities of a rehearsal: the states that the executed handlers lead to.
 * Owns the moves. A handler that names its state moves there; a handler without code does what its code might do: one declared
 * transition, towards the state that its name or its events mention, else towards a state that was not reached yet.
 */

/** Reached states, by the entity of their machine. */
type Reached = Map<string, Set<string>>

const said = (handler: HandlerEntry, key: string): readonly string[] => {
  const contract = field(handler, 'contract')
  const given: Json | undefined = field(handler, key) ?? (isRecord(contract) ? contract[key] : undefined)
  return listed(given).map(String)
}

const isLiteral = (state: string): boolean => state !== 'same' && !state.includes('{{')

/** True if the names of a handler mention a state: `lead.matched` and `match-lead` mention `matched`. */
const speaksOf = (state: string, words: readonly string[]): boolean =>
  words.some(
    (word) =>
      word
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .some((part) => part.length > 3 && state.startsWith(part)) || word.includes(state),
  )

const reachedIn = (machine: MachineEntry, reached: Reached): Set<string> => {
  const known = reached.get(machine.entity) ?? new Set([machine.initial])
  reached.set(machine.entity, known)
  return known
}

const moveOne = ({ section, handler }: Part, machine: MachineEntry, manifest: Manifest, reached: Set<string>): void => {
  const names = new Set(machine.states.map(({ name }) => name))
  const [to] = said(handler, 'state_out').filter(isLiteral)
  if (to !== undefined) {
    if (names.has(to)) reached.add(to)
    return
  }
  const from = said(handler, 'state_in').filter((state) => names.has(state))
  const next = machine.states
    .filter(({ name }) => reached.has(name) && (from.length === 0 || from.includes(name)))
    .flatMap(({ transitions_to: all = [] }) => all)
    .filter((state) => names.has(state) && !reached.has(state))
  const events = [...sentBy(section, handler).map(({ event }) => event), ...startingTypes(handler, manifest)]
  const chosen = next.find((state) => speaksOf(state, [handler.name, ...events])) ?? next[0]
  if (chosen !== undefined) reached.add(chosen)
}

/** Moves the entities that one execution of a handler affects. */
const moveEntities = (part: Part, manifest: Manifest, reached: Reached): void => {
  const own = field(part.handler, 'entity')
  for (const machine of manifest.state_machines ?? [])
    if (own === undefined || own === machine.entity) moveOne(part, machine, manifest, reachedIn(machine, reached))
}

export const PATHS = ['first', 'random', 'all'] as const
export const HUMANS = ['approve', 'reject', 'random', 'all'] as const

export interface Direction {
  readonly paths: (typeof PATHS)[number]
  readonly humans: (typeof HUMANS)[number]
  readonly maxRuns: number
  readonly roll: Roll
}

/** What was observed so far. */
export interface Seen {
  readonly handlers: Map<string, number>
  readonly actions: Set<string>
  readonly routes: Set<string>
  readonly states: Reached
  /** Conditions for which no data was found, by what they guard. */
  readonly unsolved: Map<string, string>
  runs: number
}

export const nothingSeen = (): Seen => ({
  handlers: new Map(),
  actions: new Set(),
  routes: new Set(),
  states: new Map(),
  unsolved: new Map(),
  runs: 0,
})

/** After this many executions a stand-in sends nothing more. */
const MAX_ENCORES = 8

export interface Sent {
  readonly type: string
  readonly data: Json
  readonly delay: string | null
}

interface Stage {
  readonly manifest: Manifest
  readonly parts: readonly Part[]
  readonly direction: Direction
  readonly seen: Seen
}

const chosen = <Item>(items: readonly Item[], { paths, roll }: Direction): readonly Item[] => {
  if (paths === 'all' || items.length < 2) return items
  return items.slice(paths === 'first' ? 0 : Math.floor(roll() * items.length)).slice(0, 1)
}

/** Data of one type, in as many variants as its listeners need. */
export const variantsOf = (stage: Stage, type: string, known: JsonRecord): readonly Json[] => {
  const { manifest, parts, direction, seen } = stage
  const schema = eventSchema(manifest, type)
  const plain = sampleOf(schema, direction.roll, known)
  const isSendable = ({ payload }: Roots): boolean => {
    const given = membersOf(payload)
    const kept = membersOf(sampleOf(schema, direction.roll, given))
    return Object.entries(kept).every(([name, value]) => JSON.stringify(given[name]) === JSON.stringify(value))
  }
  const wanted = wantedOf(manifest, parts, type)
  const found = wanted.flatMap((text) => {
    const solved = solve(text, { payload: plain, output: {} }, direction.roll, ['payload'], isSendable)
    if (solved === null) seen.unsolved.set(type, text)
    return solved === null ? [] : [solved.payload]
  })
  const different = new Map((found.length === 0 ? [plain] : found).map((data) => [JSON.stringify(data), data]))
  return chosen([...different.values()], direction)
}

const isPlainText = (text: string): boolean => !text.includes('{{')

/** Fills templates that are a single expression, as far as possible. */
const filled = (data: Json, roots: Roots): Json => {
  if (typeof data === 'string') {
    const [, inner] = /^\{\{([^{}]*)\}\}$/.exec(data.trim()) ?? []
    return inner === undefined ? (isPlainText(data) ? data : null) : safeValue(inner.trim(), roots)
  }
  if (!isRecord(data)) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, filled(value, roots)]))
}

const safeValue = (text: string, roots: Roots): Json => {
  try {
    return valueIn(text, roots)
  } catch {
    return null
  }
}

const membersOf = (value: Json): JsonRecord => (isRecord(value) ? value : {})

/** The data of one emit: its own, else by name from the output, else from the payload. */
const knownFor = (line: Line, roots: Roots): JsonRecord => {
  const said = line.data === null ? {} : membersOf(filled(line.data, roots))
  const own = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null))
  return { ...membersOf(roots.payload), ...membersOf(roots.output), ...own }
}

const spoken = (stage: Stage, part: Part, line: Line, roots: Roots): readonly Sent[] => {
  const { direction, seen } = stage
  const solved = line.when === null ? roots : solve(line.when, roots, direction.roll, ['output'])
  if (solved === null) {
    seen.unsolved.set(`${part.handler.name} → ${line.event}`, line.when ?? '')
    return []
  }
  return variantsOf(stage, line.event, knownFor(line, solved)).map((data) => ({
    type: line.event,
    data,
    delay: line.delay,
  }))
}

const APPROVING = ['approve', 'respond', 'edit']

/** The action that a simulated person takes. */
const decided = (part: Part, { humans, paths, roll }: Direction): readonly string[] => {
  const actions = actionsOf(part)
  if (paths === 'all' || humans === 'all') return actions
  if (humans === 'random') return actions.slice(Math.floor(roll() * actions.length)).slice(0, 1)
  const wanted = humans === 'reject' ? ['reject'] : APPROVING
  return [actions.find((action) => wanted.includes(action)) ?? actions[0] ?? ''].filter((action) => action !== '')
}

const routed = (
  stage: Stage,
  part: Part,
  roots: Roots,
): { readonly sent: readonly Sent[]; readonly next: readonly string[] } => {
  const routing = routingOf(part.handler)
  if (routing === null) return { sent: [], next: [] }
  const key = String(safeValue(routing.route_on, roots))
  const isKnown = Object.hasOwn(routing.routes, key)
  const route = isKnown ? routing.routes[key] : routing.default_route
  stage.seen.routes.add(`${part.handler.name}:${isKnown ? key : 'otherwise'}`)
  if (route === undefined) return { sent: [], next: [] }
  const data = variantsOf(stage, route.emit ?? '', membersOf(roots.payload))
  return {
    sent: route.emit === undefined ? [] : data.map((one) => ({ type: route.emit as string, data: one, delay: null })),
    next: listed((route.then as Json | undefined) ?? []).map(String),
  }
}

/** One execution of a handler. */
const perform = (
  stage: Stage,
  part: Part,
  payload: Json,
): { readonly sent: readonly Sent[]; readonly next: readonly string[]; readonly output: Json } => {
  const { seen, direction } = stage
  const { name } = part.handler
  const times = (seen.handlers.get(name) ?? 0) + 1
  seen.handlers.set(name, times)
  seen.runs++
  moveEntities(part, stage.manifest, seen.states)
  const schema = outputSchemaOf(part.handler)
  const output = isRecord(schema) ? sampleOf(schema, direction.roll, membersOf(payload)) : {}
  if (times > MAX_ENCORES || seen.runs > direction.maxRuns) return { sent: [], next: [], output }
  const actions = decided(part, direction)
  for (const action of actions) seen.actions.add(`${name}:${action}`)
  const lines = linesOf(part).filter(({ by }) => by === null || actions.includes(by))
  const { sent, next } = routed(stage, part, { payload, output })
  const own = part.section === 'humans' ? lines : chosen(lines, direction)
  return { sent: [...sent, ...own.flatMap((line) => spoken(stage, part, line, { payload, output }))], next, output }
}

interface Play {
  readonly input: Json
  readonly step: {
    run(name: string, body: (context: { emit(type: string, data: Json): void }) => Json): Promise<Json>
    sleep(name: string, duration: string): Promise<void>
    invoke(name: string, handler: string, input: Json): Promise<Json>
  }
}

/** The code of a stand-in: it decides in one step and sends in others, so that a delay is time that passes. */
const standIn =
  (stage: Stage, part: Part) =>
  async ({ input, step }: Play): Promise<Json> => {
    const [first = input] = Array.isArray(input) ? input : [input]
    const { sent, next, output } = (await step.run(
      'play',
      () => perform(stage, part, first) as unknown as Json,
    )) as unknown as ReturnType<typeof perform>
    for (const [i, { type, data, delay }] of sent.entries()) {
      if (delay !== null) await step.sleep(`delay ${i}`, delay)
      await step.run(`say ${i}`, ({ emit }) => {
        emit(type, data)
        return null
      })
    }
    for (const [i, handler] of next.entries()) await step.invoke(`then ${i}`, handler, first)
    return output
  }

/** Every handler becomes a function on this machine: deadlines and priorities of people do not apply to functions, and no worker is remote. */
const roleOf = ({ section, handler }: Part): HandlerEntry => {
  const foreign = [
    'module',
    'pool',
    'placement',
    'circuit',
    'internal',
    // What would cancel a run here is another path, which is rehearsed as well.
    'cancel_on',
    ...(section === 'humans' ? ['deadline', 'priority'] : []),
  ]
  const keys = STARTING.filter((key) => !foreign.includes(key))
  const kept = defined(Object.fromEntries(['enabled', ...keys].map((key) => [key, handler[key] as Json | undefined])))
  return {
    ...kept,
    name: handler.name,
    triggers: handler.triggers,
    ...(handler['fan_in'] === undefined ? {} : { fan_in: handler['fan_in'] }),
  }
}

export interface Cast {
  readonly source: SystemSource
  readonly stage: Stage
}

export const castOf = (manifest: Manifest, direction: Direction, seen: Seen): Cast => {
  const parts = partsIn(manifest)
  const stage: Stage = { manifest, parts, direction, seen }
  const code = new Map<string, unknown>(parts.map((part) => [part.handler.name, standIn(stage, part)]))
  const { agents: _, humans: __, plans: ___, webhooks: ____, schedules: _____, modules: ______, ...others } = manifest
  // Chats are not part of a rehearsal, because it has no messages from people.
  const { chats: _______, ...rest } = others
  const events = {
    ...manifest.events,
    open: true,
    // Stand-ins send the events of people, too.
    definitions: manifest.events.definitions.map(({ after: _after, source: _source, open: _open, ...event }) => event),
  }
  const played = { ...rest, events, functions: parts.map(roleOf) } as unknown as Manifest
  const source = sourceOf(played, { code })
  const functions = (source.functions ?? []).map(
    (one): FunctionSource => ({ ...one, options: { ...one.options, effect: 'idempotent' } }),
  )
  return { stage, source: { ...source, functions } }
}
