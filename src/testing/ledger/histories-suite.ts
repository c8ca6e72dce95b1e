/** Ledger suite, last chapter: random histories are played on this ledger and on the reference; both must look the same after every move. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LedgerHarness } from './harness.ts'
import { type AppendMove, type EventMove, type Move, newCast, Player, type WaitMove } from './player.ts'
import { ReferenceLedger } from './reference.ts'

const HISTORIES = 60
const MOVES = 40
const TIMEOUT = 120_000

const run = fc.nat(3)
const worker = fc.nat(2)
const wakeIn = fc.constantFrom(null, 0, 10, 60)
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { freq: 3, nil: null })

const event: fc.Arbitrary<EventMove> = fc.record({
  id: fc.nat(12),
  type: fc.constantFrom('x', 'y'),
  order: fc.constantFrom(0, 1),
})

const wait: fc.Arbitrary<WaitMove> = fc.record({
  step: fc.constantFrom('a', 'b'),
  type: fc.constantFrom('x', 'y'),
  order: fc.constantFrom(null, 0, 1),
  seen: fc.constantFrom('counted', 'counted', 'none'),
})

const create = fc.record({
  kind: fc.constant('create' as const),
  run,
  worker: fc.option(worker, { nil: null }),
  wakeIn,
  event: rarely(event),
  opens: rarely(wait),
})

const write = fc.record({
  kind: fc.constant('write' as const),
  run,
  versionOff: fc.constantFrom(0, 0, 0, 0, 0, -1, 1),
  as: fc.constantFrom('holder' as const, 'holder', 'holder', 'outsider', 'stale holder'),
  facts: fc.nat(2),
  status: fc.constantFrom('running' as const, 'waiting', 'waiting', 'success'),
  wakeIn,
  release: fc.boolean(),
  seen: fc.constantFrom('fresh' as const, 'fresh', 'none'),
  opens: rarely(wait),
  closes: rarely(fc.constantFrom('a' as const, 'b')),
  event: rarely(event),
  signals: rarely(run),
  also: rarely(run),
})

const append: fc.Arbitrary<AppendMove> = fc.oneof(
  { arbitrary: create, weight: 2 },
  { arbitrary: write, weight: 6 },
  { arbitrary: event.map((one) => ({ kind: 'event' as const, event: one })), weight: 2 },
)

const after = { after: fc.constantFrom(0, 1, 5, 20) }
const move: fc.Arbitrary<Move> = fc.oneof(
  { arbitrary: fc.tuple(append, fc.record(after)).map(([one, time]) => ({ ...one, ...time })), weight: 8 },
  {
    arbitrary: fc.record({ kind: fc.constant('batch' as const), moves: fc.array(append, { maxLength: 4 }), ...after }),
    weight: 2,
  },
  { arbitrary: fc.record({ kind: fc.constant('resend' as const), back: fc.nat(), ...after }), weight: 2 },
  {
    arbitrary: fc.record({ kind: fc.constant('claim' as const), worker, only: rarely(fc.array(run)), ...after }),
    weight: 4,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom('beat' as const, 'beat', 'retire'), worker, ...after }), weight: 2 },
)

export const historiesSuite = (harness: LedgerHarness): void => {
  const play = async (moves: readonly Move[]): Promise<void> => {
    const cast = newCast()
    const opened = await harness.open()
    const [player, reference] = [new Player(opened.ledger, cast), new Player(new ReferenceLedger(), cast)]
    for (const one of moves) {
      expect(await player.play(one)).toEqual(await reference.play(one))
      expect(await player.view()).toEqual(await reference.view())
    }
    await opened.close()
  }

  test(
    'a random history gives the same result as on the reference',
    () =>
      fc.assert(fc.asyncProperty(fc.array(move, { maxLength: MOVES, size: 'max' }), play), {
        numRuns: harness.capabilities.histories ?? HISTORIES,
      }),
    TIMEOUT,
  )
}
