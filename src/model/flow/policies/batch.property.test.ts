/** Batching compared with an oracle that fills one list after another. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countOf } from '#model/kernel/due-map.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { driveGate, startsOf, suppressionsOf } from '#test/support/stories/gate-drive.ts'
import { anArrival, policiesWith } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import type { BatchPolicy } from './batch.ts'

const CASES = policyCases(59)
const policy = fc.record({
  maxSize: fc.integer({ min: 1, max: 5 }),
  maxWaitMs: fc.integer({ min: 0, max: 20 }),
  maxBytes: fc.integer({ min: 1, max: 40 }),
})
const step = fc.record({
  gapMs: fc.oneof(fc.constant(0), fc.nat(6), fc.nat(25)),
  bytes: fc.integer({ min: 0, max: 20 }),
  alone: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
  key: fc.constantFrom('a', 'b'),
  restarts: fc.boolean(),
})

interface Arrived {
  readonly sequence: number
  readonly at: Instant
  readonly bytes: number
  readonly alone: boolean
}

const oracle = (policy: BatchPolicy, arrived: readonly Arrived[]): readonly string[] => {
  const sent: string[] = []
  let list: Arrived[] = []
  const send = (at: Instant): void => {
    if (list.length > 0) sent.push(`${list.map(({ sequence }) => sequence).join('+')} events @${at}`)
    list = []
  }
  const sizeOf = (): number => list.reduce((sum, { bytes }) => sum + bytes, 0)
  const dueAt = (): Instant => (list[0]?.at ?? Number.POSITIVE_INFINITY) + policy.maxWaitMs
  for (const one of arrived) {
    if (dueAt() <= one.at) send(dueAt())
    if (one.alone) sent.push(`${one.sequence} events @${one.at}`)
    else {
      if (sizeOf() + one.bytes > policy.maxBytes) send(one.at)
      list.push(one)
      if (list.length >= policy.maxSize || sizeOf() >= policy.maxBytes) send(one.at)
    }
  }
  send(dueAt())
  return sent
}

test(
  '[J3] the first limit that is reached starts the run: number, bytes or time',
  () => {
    fc.assert(
      fc.property(policy, fc.array(step, { maxLength: 16, size: 'max' }), (batch, timeline) => {
        const drive = driveGate(policiesWith({ batch }))
        const lines = { a: [] as Arrived[], b: [] as Arrived[] }
        let at = 100
        for (const [i, { gapMs, bytes, alone, key, restarts }] of timeline.entries()) {
          at += gapMs
          lines[key].push({ sequence: i + 1, at, bytes, alone })
          drive.passTo(at)
          drive.arrive(at, [anArrival(i + 1, { bytes, alone, windowKey: key })])
          if (restarts) drive.restart()
        }
        drive.passTo(at + 100)
        expect([...startsOf(drive.history)].sort()).toEqual(
          [...oracle(batch, lines.a), ...oracle(batch, lines.b)].sort(),
        )
        expect([suppressionsOf(drive.history), countOf(drive.state().windows)]).toEqual([[], 0])
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test('[J3] the first event of the list determines its priority', () => {
  const drive = driveGate(policiesWith({ batch: { maxSize: 2, maxWaitMs: 10, maxBytes: 1_000 } }))
  const facts = drive.arrive(1, [anArrival(1, { priority: 7 }), anArrival(2, { priority: 9 })])
  expect(facts).toContainEqual(expect.objectContaining({ type: 'gate.started', events: [1, 2], priority: 7 }))
})
