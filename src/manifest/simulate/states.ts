/**
 * Entities of a rehearsal: which states the hands that were played lead to.
 *
 * Owns the moves. A hand that says its state moves there; a hand without code does what it might do once it has some: one declared
 * transition, towards the state that its name or its events speak of, else towards one that was not reached yet.
 */
import { field, type HandlerEntry, heardBy, type MachineEntry, type Manifest, sentBy } from '#manifest/yaml/manifest.ts'
import { isRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Part } from './script.ts'

/** Reached states, by the entity of their machine. */
export type Reached = Map<string, Set<string>>

const said = (handler: HandlerEntry, key: string): readonly string[] => {
  const contract = field(handler, 'contract')
  const given: Json | undefined = field(handler, key) ?? (isRecord(contract) ? contract[key] : undefined)
  return listed(given).map(String)
}

const isLiteral = (state: string): boolean => state !== 'same' && !state.includes('{{')

/** Whether the words of a hand speak of a state: `lead.matched` and `match-lead` of `matched`. */
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
  const events = [...sentBy(section, handler).map(({ event }) => event), ...heardBy(handler, manifest)]
  const chosen = next.find((state) => speaksOf(state, [handler.name, ...events])) ?? next[0]
  if (chosen !== undefined) reached.add(chosen)
}

/** One performance of a hand. */
export const moveEntities = (part: Part, manifest: Manifest, reached: Reached): void => {
  const own = field(part.handler, 'entity')
  for (const machine of manifest.state_machines ?? [])
    if (own === undefined || own === machine.entity) moveOne(part, machine, manifest, reachedIn(machine, reached))
}
