/** Any history of a queue, compared with a list of where each message is; and the diagram of a message. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readQueueFact, writeFact } from '#model/kernel/fact-codec.ts'
import { type RunId, runId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { queue, queueLength, resumeQueueFrom } from './queue.ts'
import type { OpenQueue, QueueCommand, QueueFact, QueuePolicy, QueueState } from './queue-fact.ts'

type Turn =
  | { readonly kind: 'put'; readonly count: number }
  | { readonly kind: 'take'; readonly read: number }
  | { readonly kind: 'end'; readonly nth: number; readonly failing: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'revive' }

const anyPolicy: fc.Arbitrary<QueuePolicy> = fc.record({
  maxLength: fc.integer({ min: 1, max: 4 }),
  onFull: fc.constantFrom('reject', 'block', 'drop_oldest'),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  retry: fc.constant({ maxAttempts: 9, baseMs: 10, factor: 2, maxMs: 40 }),
  batch: fc.integer({ min: 1, max: 3 }),
  cycles: fc.integer({ min: 0, max: 2 }),
})

const anyTurn: fc.Arbitrary<Turn> = fc.oneof(
  fc.record({ kind: fc.constant('put'), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('take'), read: fc.integer({ min: 0, max: 8 }) }),
  fc.record({ kind: fc.constant('end'), nth: fc.nat(1), failing: fc.nat(7) }),
  fc.record({ kind: fc.constant('pass'), ms: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant('revive') }),
)

const anyLife = fc.tuple(anyPolicy, fc.array(anyTurn, { maxLength: 40, size: 'max' }))

const nameOf = (cycle: number): RunId => runId(cycle.toString(16).padStart(32, '0'))

interface Step {
  readonly before: QueueState
  readonly fact: QueueFact
  readonly after: QueueState
}

/** Plays a history as the ledger would: messages have sequences 10, 20, … in the order in which they were put. */
const play = ([policy, turns]: [QueuePolicy, readonly Turn[]]) => {
  let state: QueueState = queue.initial
  let now = 0
  let count = 0
  const steps: Step[] = []
  const ask = (command: QueueCommand): boolean => {
    const decision = queue.decide(state, command)
    if (decision.kind === 'refused') return false
    for (const fact of decision.facts) {
      const after = queue.evolve(state, fact)
      steps.push({ before: state, fact, after })
      state = after
    }
    return true
  }
  ask({ type: 'open_queue', now })
  for (const turn of turns) {
    const open = state as OpenQueue
    if (turn.kind === 'pass') now += turn.ms
    if (turn.kind === 'put' && ask({ type: 'put', now, count: turn.count, policy })) count += turn.count
    if (turn.kind === 'revive') ask({ type: 'revive', now, by: 'ana' })
    if (turn.kind === 'take') {
      const unread = Array.from({ length: count }, (_, i) => (i + 1) * 10).filter((one) => one > open.cursor)
      ask({ type: 'take', now, policy, unread: unread.slice(0, turn.read), runOf: nameOf })
    }
    const cycle = turn.kind === 'end' ? open.cycles[turn.nth] : undefined
    if (turn.kind === 'end' && cycle !== undefined) {
      const failed = cycle.messages.filter((_, i) => (turn.failing >> i) % 2 === 1).map(({ sequence }) => sequence)
      ask({ type: 'end_cycle', now, policy, run: cycle.run, failed: new Set(failed) })
    }
  }
  return { policy, steps, count, state: state as OpenQueue }
}

/** Returns where each message is, from the facts alone. */
const placesAfter = (
  steps: readonly Step[],
  see: (fact: QueueFact, before: ReadonlyMap<number, string>, after: ReadonlyMap<number, string>) => void = () => {},
): ReadonlyMap<number, string> => {
  const places = new Map<number, string>()
  let last = 0
  for (const { before, fact } of steps) {
    const known = new Map(places)
    if (fact.type === 'queue.put')
      for (let i = 0; i < fact.count; i++) {
        last += 10
        places.set(last, 'waiting')
      }
    if (fact.type === 'queue.dropped') {
      const unread = [...places].filter(([one, place]) => place === 'waiting' && one > (before as OpenQueue).cursor)
      for (const one of [...unread.slice(0, fact.unread).map(([sequence]) => sequence), ...fact.returned])
        places.set(one, 'dropped')
    }
    if (fact.type === 'queue.cycle_started') for (const { sequence } of fact.messages) places.set(sequence, 'cycle')
    if (fact.type === 'queue.cycle_ended') {
      const cycle = (before as OpenQueue).cycles.find(({ run }) => run === fact.run)
      for (const { sequence } of cycle?.messages ?? []) places.set(sequence, 'done')
      for (const { sequence } of fact.back) places.set(sequence, 'returned')
      for (const { sequence } of fact.dead) places.set(sequence, 'dead')
    }
    if (fact.type === 'queue.revived') for (const sequence of fact.messages) places.set(sequence, 'returned')
    see(fact, known, places)
  }
  return places
}

const held = (property: (life: ReturnType<typeof play>) => void): void =>
  fc.assert(
    fc.property(anyLife, (life) => property(play(life))),
    { numRuns: 300, seed: 7 },
  )

test('queue-1 every message is in one place, and the state agrees with the facts about it', () =>
  held(({ steps, count, state }) => {
    const places = placesAfter(steps)
    const at = (place: string) => [...places].filter(([, one]) => one === place).map(([sequence]) => sequence)
    expect(places.size).toBe(count)
    expect(state.unread).toBe(at('waiting').length)
    expect(state.returned.map(({ sequence }) => sequence).toSorted()).toEqual(at('returned').toSorted())
    expect(state.cycles.flatMap(({ messages }) => messages.map(({ sequence }) => sequence)).toSorted()).toEqual(
      at('cycle').toSorted(),
    )
    expect(state.dead.map(({ sequence }) => sequence).toSorted()).toEqual(at('dead').toSorted())
  }))

test('queue-2 a put leaves no more waiting than the bound', () =>
  held(({ policy, steps }) => {
    for (const { fact, after } of steps)
      if (fact.type === 'queue.put') expect(queueLength(after as OpenQueue)).toBeLessThanOrEqual(policy.maxLength)
  }))

test('queue-3 a message has no more attempts than allowed, and no more cycles are open than allowed', () =>
  held(({ policy, steps }) => {
    for (const { fact, after } of steps) {
      if (fact.type === 'queue.cycle_started')
        for (const { attempts } of fact.messages) expect(attempts).toBeLessThanOrEqual(policy.maxAttempts)
      expect((after as OpenQueue).cycles.length).toBeLessThanOrEqual(policy.cycles)
    }
  }))

test('queue-4 messages leave in the order of arrival, and none before its time', () =>
  held(({ steps }) => {
    const first = steps.flatMap(({ before, fact }) => {
      if (fact.type !== 'queue.cycle_started') return []
      const back = new Map((before as OpenQueue).returned.map(({ sequence, dueAt }) => [sequence, dueAt]))
      for (const { sequence } of fact.messages) expect(back.get(sequence) ?? 0).toBeLessThanOrEqual(fact.at)
      return fact.messages.map(({ sequence }) => sequence).filter((sequence) => !back.has(sequence))
    })
    expect(first).toEqual(first.toSorted((a, b) => a - b))
  }))

test('any fact of a queue is read back unchanged, and a checkpoint contains the whole state', () =>
  held(({ steps, state }) => {
    const facts = steps.map(({ fact }) => fact)
    for (const fact of facts) expect(readQueueFact(writeFact(fact))).toEqual(fact)
    const checkpoint: QueueFact = { type: 'queue.checkpointed', at: 0, state }
    expect(resumeQueueFrom([readQueueFact(writeFact(checkpoint))])).toEqual(state)
    expect(fold(queue, facts)).toEqual(state)
  }))

test('the diagram of a message in a queue has the same edges as the queue', () => {
  const document = readFileSync(new URL('../../../docs/state-machines.md', import.meta.url), 'utf8')
  const picture = document.split('## A message in a queue\n')[1]?.split('```')[1] ?? ''
  const drawn = [...picture.matchAll(/^ {2}(\S+) --> (\S+): (.+)$/gm)].flatMap(([, from, to, facts]) =>
    (facts ?? '').split(', ').map((fact) => `${from} --> ${to}: ${fact}`),
  )
  const edges = new Set<string>()
  for (const life of fc.sample(anyLife, { numRuns: 1_500, seed: 7 }))
    placesAfter(play(life).steps, (fact, before, after) => {
      for (const [sequence, to] of after) {
        const from = before.get(sequence) ?? '[*]'
        if (from !== to) edges.add(`${from} --> ${to}: ${fact.type}`)
      }
    })
  expect([...edges].toSorted()).toEqual(drawn.toSorted())
})
