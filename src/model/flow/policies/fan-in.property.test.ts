/** Groups of members compared with a simple reference, for any order of arrivals, times and keys. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { advanceGate } from '#engine/core/advance.ts'
import type { Arrival } from '#model/event/arrival.ts'
import { gate } from '#model/flow/gate.ts'
import type { FlowPolicies, GateFact, GateState } from '#model/flow/gate-fact.ts'
import { gateWakeAt } from '#model/flow/gate-read.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import type { FanInPolicy } from './fan-in.ts'

const TYPES = ['a', 'b', 'c']
const TIMEOUT = 100

interface Member {
  readonly type: string
  readonly key: string
  readonly at: number
}

const member = fc.record({ type: fc.constantFrom(...TYPES), key: fc.constantFrom('x', 'y'), wait: fc.nat(60) })
const story = fc.array(member, { maxLength: 30 }).map((all) => {
  let at = 0
  return all.map(({ wait, ...rest }): Member => {
    at += wait
    return { ...rest, at }
  })
})

const policiesOf = (fanIn: FanInPolicy): FlowPolicies => ({
  idempotency: null,
  whilePaused: 'suppress',
  rateLimit: null,
  debounce: null,
  batch: null,
  overlap: 'allow',
  throttle: null,
  fanIn,
})

const arrivalOf = ({ type, key, at }: Member, sequence: number): Arrival => ({
  sequence,
  time: at,
  bytes: 2,
  idempotencyKey: null,
  rateKey: '',
  windowKey: key,
  overlapKey: '',
  throttleKey: '',
  cost: 1,
  priority: 0,
  alone: false,
  member: type,
})

/** Returns the runs as the gate starts them: the sequences of each. */
const played = (members: readonly Member[], fanIn: FanInPolicy) => {
  const rules = { policies: policiesOf(fanIn), runOf: (sequence: number) => `run_${sequence}` as RunId }
  let state: GateState = gate.initial
  const facts: GateFact[] = []
  const ask = (command: Parameters<typeof advanceGate>[1]): void => {
    const advance = advanceGate(state, command)
    state = advance.state
    facts.push(...advance.facts)
  }
  const passUntil = (end: number): void => {
    for (let due = gateWakeAt(state); due !== null && due <= end; due = gateWakeAt(state))
      ask({ type: 'pass_time', now: due, ...rules })
  }
  ask({ type: 'open_gate', now: 0, cursor: 0 })
  for (const [i, one] of members.entries()) {
    passUntil(one.at)
    ask({ type: 'arrive', now: one.at, arrivals: [arrivalOf(one, i + 1)], refused: [], cursor: i + 1, ...rules })
  }
  passUntil(Number.MAX_SAFE_INTEGER)
  return {
    started: facts.flatMap((fact) => (fact.type === 'gate.started' ? [[...fact.events].sort((a, b) => a - b)] : [])),
    suppressed: facts.flatMap((fact) => (fact.type === 'trigger.suppressed' ? [fact.sequence] : [])),
  }
}

interface Group {
  readonly endsAt: number
  members: { readonly type: string; readonly sequence: number }[]
}

/** The same in a simple form. */
const reference = (members: readonly Member[], { collect, primary }: FanInPolicy) => {
  const open = new Map<string, Group>()
  const ended: (Group & { readonly at: number })[] = []
  const suppressed: number[] = []
  const end = (key: string, group: Group, at: number): void => {
    open.delete(key)
    if (group.members.some(({ type }) => type === primary)) ended.push({ ...group, at })
    else suppressed.push(...group.members.map(({ sequence }) => sequence))
  }
  const expire = (now: number): void => {
    const late = [...open].filter(([, { endsAt }]) => endsAt <= now).sort(([, a], [, b]) => a.endsAt - b.endsAt)
    for (const [key, group] of late) end(key, group, group.endsAt)
  }
  for (const [i, { type, key, at }] of members.entries()) {
    expire(at)
    const group = open.get(key) ?? { endsAt: at + TIMEOUT, members: [] }
    open.set(key, group)
    const twin = group.members.find((one) => one.type === type)
    if (twin !== undefined && collect === 'first') {
      suppressed.push(i + 1)
      continue
    }
    if (twin !== undefined && collect === 'last') {
      group.members = group.members.filter((one) => one !== twin)
      suppressed.push(twin.sequence)
    }
    group.members.push({ type, sequence: i + 1 })
    if (TYPES.every((wanted) => group.members.some((one) => one.type === wanted))) end(key, group, at)
  }
  expire(Number.MAX_SAFE_INTEGER)
  return {
    started: ended.map((group) => group.members.map(({ sequence }) => sequence).sort((a, b) => a - b)),
    suppressed,
  }
}

const sorted = (lists: readonly (readonly number[])[]): readonly string[] => lists.map((list) => list.join()).sort()

for (const collect of ['first', 'last', 'all'] as const)
  test(
    `[A8] fan-in-1, fan-in-2: with collect ${collect} groups start and end as the reference says`,
    () => {
      const policy: FanInPolicy = { primary: 'a', types: TYPES, timeoutMs: TIMEOUT, collect }
      fc.assert(
        fc.property(story, (members) => {
          const [found, expected] = [played(members, policy), reference(members, policy)]
          expect(sorted(found.started)).toEqual(sorted(expected.started))
          expect([...found.suppressed].sort()).toEqual([...expected.suppressed].sort())
        }),
        policyCases(73, 1_000),
      )
    },
    PATIENCE_MS,
  )
