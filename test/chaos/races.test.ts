/** Many concurrent runs in every order: nothing is corrupt, nothing is lost, whatever wins. */
import { expect, test } from 'vitest'
import { newSystems, playTape } from '#test/chaos/sim/campaign.ts'
import type { Planned } from '#test/chaos/sim/errands.ts'
import { inMacrotask } from '#test/chaos/sim/microtasks.ts'
import type { Play } from '#test/chaos/sim/play.ts'
import { custody } from '#test/chaos/sim/plays/families.ts'
import { loop, nap, sequence } from '#test/chaos/sim/plays/steps.ts'
import { both, early, either, race } from '#test/chaos/sim/plays/waits.ts'
import { Tape } from '#test/chaos/sim/tape.ts'
import { Theatre } from '#test/chaos/sim/theatre.ts'

const systems = newSystems()
const MANY = { systems, maxTicks: 1_000_000 }
/** Selects the profile of faults.ts in which every order happens and no call fails. */
const ORDER_ONLY = [1]

const times = (count: number, plays: readonly Play[]): readonly Planned[] =>
  Array.from({ length: count }, (_, i) => ({
    play: plays[i % plays.length] as Play,
    errand: { id: i + 1, kind: i % 12 },
  }))

test('[R4][V17][V24] 600 runs race a step, a timer and an event, and none is corrupt', async () => {
  const tape = Tape.seeded(1, 60_000, ORDER_ONLY)
  const verdict = await playTape(tape, { ...MANY, planned: () => times(600, [race]) })
  expect(verdict.violations).toEqual([])
  expect(verdict.runs).toBeGreaterThanOrEqual(600)
})

test('[R4][V17][V24] 600 more in small groups race under faults, and none is corrupt', async () => {
  for (let seed = 1; seed <= 100; seed++) {
    const verdict = await playTape(Tape.seeded(seed, 900), { systems, planned: () => times(6, [race]) })
    expect({ seed, violations: verdict.violations }).toEqual({ seed, violations: [] })
  }
})

test('[V14] a function that changes under 100 parked runs ends each of them without an error', async () => {
  const verdict = await inMacrotask(() => {
    const planned = times(100, [either, both, early, custody, nap, sequence, loop])
    const theatre = new Theatre(Tape.of([]), { ...MANY, planned: () => planned, crashes: [] })
    const { cast, errands } = theatre
    return theatre.play(() => {
      cast.spawn()
      theatre.rest()
      // The first hundred actions are the starts; their events come after the change.
      for (const _ of planned) errands.doOne()
      theatre.rest()
      for (const worker of cast.serving) worker.engine.replace(systems.bills[0].editions[2])
      theatre.calm()
    })
  })
  expect(verdict.violations).toEqual([])
  expect(verdict.tell().filter((line) => line.startsWith('run_') && line.includes(' success'))).toHaveLength(
    verdict.runs,
  )
})
