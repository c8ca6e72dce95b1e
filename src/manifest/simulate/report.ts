/**
 * Reports which parts of a manifest a rehearsal has reached, and which not, with the reason.
 *
 * Owns the verdict. A rehearsal that has not reached everything has found something: a handler that nothing starts, data that cannot be made.
 */
import { comesFromOutside, trafficOf } from '#manifest/lint/traffic.ts'
import { type HandlerEntry, type MachineEntry, type Manifest, startingTypes } from '#manifest/yaml/manifest.ts'
import type { Seen } from './cast.ts'
import { actionsOf, type Part, partsIn, routingOf } from './script.ts'

export interface Reach {
  readonly reached: readonly string[]
  readonly missed: readonly { readonly name: string; readonly why: string }[]
}

export interface Rehearsal {
  readonly system: string
  readonly seed: number
  readonly runs: number
  readonly events: Reach
  readonly handlers: Reach
  readonly actions: Reach
  readonly routes: Reach
  readonly states: Reach
  /** Events with a listener that nothing in the system sends: they were sent from outside all the same. */
  readonly unproduced: readonly string[]
  readonly loops: readonly string[]
  readonly failures: readonly { readonly handler: string; readonly error: string }[]
}

const split = (
  names: readonly string[],
  isReached: (name: string) => boolean,
  why: (name: string) => string,
): Reach => ({
  reached: names.filter(isReached),
  missed: names.filter((name) => !isReached(name)).map((name) => ({ name, why: why(name) })),
})

/** The results of a rehearsal. */
export interface RehearsalResult {
  readonly seed: number
  readonly seen: Seen
  readonly types: ReadonlySet<string>
  readonly loops: readonly string[]
  readonly failures: Rehearsal['failures']
}

const whyNotHeard = (part: Part | undefined, manifest: Manifest, { types, seen }: RehearsalResult): string => {
  if (part === undefined) return 'nothing starts it'
  const heard = startingTypes(part.handler, manifest)
  if (part.handler['enabled'] === false) return 'it is switched off'
  if (heard.length === 0) return 'nothing starts it'
  const silent = heard.filter((type) => !types.has(type))
  if (silent.length === heard.length) return `${silent.join(', ')} was not sent`
  const unsolved = heard.flatMap((type) => seen.unsolved.get(type) ?? [])
  return unsolved.length > 0 ? `no data was found for ${unsolved[0]}` : 'its filter or its flow control held it back'
}

const whyNotSent = (type: string, manifest: Manifest, { seen }: RehearsalResult): string => {
  const senders = trafficOf(manifest).sent.get(type) ?? []
  if (senders.length === 0) return 'nothing sends it'
  const unsolved = senders.map((name) => seen.unsolved.get(`${name} → ${type}`)).find((text) => text !== undefined)
  return unsolved === undefined ? `${senders.join(', ')} did not reach it` : `no answer was found for ${unsolved}`
}

const whyNotReached = (machine: MachineEntry, state: string, reached: ReadonlySet<string>): string => {
  const before = machine.states.filter(({ transitions_to: to = [] }) => to.includes(state)).map(({ name }) => name)
  if (before.length === 0) return 'no transition leads to it'
  return before.some((name) => reached.has(name))
    ? 'no simulated handler moves to it'
    : `no simulated handler moves to ${before.join(' or ')}, the states before it`
}

/** A state is reached if it is the initial one, or if a handler moves to it. */
const statesOf = (manifest: Manifest, { seen }: RehearsalResult): Reach => {
  const machines = manifest.state_machines ?? []
  const reachedOf = ({ entity, initial }: MachineEntry) => seen.states.get(entity) ?? new Set([initial])
  const all = machines.flatMap((machine) =>
    machine.states.map(({ name }) => ({
      name: `${machine.entity}.${name}`,
      isReached: reachedOf(machine).has(name),
      why: whyNotReached(machine, name, reachedOf(machine)),
    })),
  )
  return {
    reached: all.filter(({ isReached }) => isReached).map(({ name }) => name),
    missed: all.filter(({ isReached }) => !isReached).map(({ name, why }) => ({ name, why })),
  }
}

export const rehearsalOf = (manifest: Manifest, told: RehearsalResult): Rehearsal => {
  const { seen, types, seed, loops, failures } = told
  const parts = partsIn(manifest)
  const { sent, heard } = trafficOf(manifest)
  const events = [...new Set([...manifest.events.definitions.map(({ name }) => name), ...sent.keys(), ...heard.keys()])]
  const own = events.filter((name) => !name.startsWith('trihand.') && !comesFromSystem(name))
  const actions = parts.flatMap((part) => actionsOf(part).map((action) => `${part.handler.name}:${action}`))
  const routes = parts.flatMap(({ handler }) =>
    Object.keys(routingOf(handler)?.routes ?? {}).map((key) => `${handler.name}:${key}`),
  )
  return {
    system: manifest.product.name,
    seed,
    runs: seen.runs,
    events: split(
      own,
      (name) => types.has(name),
      (name) => whyNotSent(name, manifest, told),
    ),
    handlers: split(
      parts.filter(({ handler }) => !isSpokenTo(handler, manifest)).map(({ handler }) => handler.name),
      (name) => seen.handlers.has(name),
      (name) =>
        whyNotHeard(
          parts.find(({ handler }) => handler.name === name),
          manifest,
          told,
        ),
    ),
    actions: split(
      actions,
      (name) => seen.actions.has(name),
      () => 'no simulated person chose it',
    ),
    routes: split(
      routes,
      (name) => seen.routes.has(name),
      () => 'no data led there',
    ),
    states: statesOf(manifest, told),
    unproduced: [...heard.keys()].filter((type) => !sent.has(type) && !isDeclaredOutside(manifest, type)),
    loops,
    failures,
  }
}

/** Only a chat calls it, so no event of a rehearsal reaches it. */
const isSpokenTo = ({ name, triggers }: HandlerEntry, { chats = [] }: Manifest): boolean =>
  triggers.length === 0 &&
  chats.some(({ agent, executors = [] }) => agent === name || JSON.stringify(executors).includes(JSON.stringify(name)))

const comesFromSystem = (type: string): boolean => /^(agent|human|workflow|approval_bundle)\./.test(type)

const isDeclaredOutside = (manifest: Manifest, type: string): boolean => comesFromOutside(manifest, type)

export const isComplete = (rehearsal: Rehearsal): boolean => {
  const { events, handlers, actions, routes, states, unproduced, failures } = rehearsal
  return (
    [events, handlers, actions, routes, states].every(({ missed }) => missed.length === 0) &&
    unproduced.length + failures.length === 0
  )
}

/** The events at which a chain may begin: from outside, without a sender inside, or sent by a schedule or a webhook. */
export const beginningsOf = (manifest: Manifest): readonly string[] => {
  const { heard, sent } = trafficOf(manifest)
  const fromHands = new Set(
    [...sent].filter(([, who]) => who.some((name) => !/^(schedule|webhook):/.test(name))).map(([type]) => type),
  )
  const declared = manifest.events.definitions.filter(
    ({ source, after }) => source === 'external' || (source === 'human' && after === undefined),
  )
  const all = [...heard.keys(), ...sent.keys(), ...declared.map(({ name }) => name)]
  const implied = new Set(
    manifest.events.definitions.filter(({ after }) => after !== undefined).map(({ name }) => name),
  )
  return [...new Set(all)].filter(
    (type) =>
      (!fromHands.has(type) || declared.some(({ name }) => name === type)) &&
      !implied.has(type) &&
      !comesFromSystem(type) &&
      !type.startsWith('trihand.'),
  )
}
