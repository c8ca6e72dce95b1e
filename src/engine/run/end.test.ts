/** A caller that waits for the end of a run looks when there may be something to see. */
import { expect, test } from 'vitest'
import { Observers } from '#engine/core/observers.ts'
import { Publish } from '#engine/core/publish.ts'
import { type RunId, runId } from '#model/kernel/ids.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { RunEnd } from './end.ts'

const RUN = runId('01a1ee61-5fdc-7452-b7d5-d9c5a8389dbb')

const waiting = () => {
  const clock = new VirtualClock()
  let hint: () => void = () => {}
  const changeFeed = {
    follow: (_: unknown, listener: () => void) => {
      hint = listener
      return () => {}
    },
  }
  const end = new RunEnd({ clock, publish: new Publish(new Observers()), changeFeed }, RUN as RunId)
  let looks = 0
  const look = async (): Promise<void> => {
    for (;;) {
      await end.within(1_000)
      looks++
    }
  }
  void look()
  return { clock, hint: () => hint(), looks: () => looks }
}

test('run-end-1: a hint of another process causes a look at once, long before the next poll (13.2.6)', async () => {
  const { clock, hint, looks } = waiting()
  await clock.advance(100)
  hint()
  await clock.advance(5)
  expect(looks()).toBe(1)
})

test('run-end-1: a thousand hints in a hundred seconds add only some dozens of looks', async () => {
  const { clock, hint, looks } = waiting()
  for (let i = 0; i < 1_000; i++) {
    hint()
    await clock.advance(100)
  }
  expect(looks()).toBeLessThan(250)
})
