/** Timeouts that share one timer: they pass in order and once, and not at all after they were removed. */
import { expect, test } from 'vitest'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { Deadline, Deadlines } from './deadlines.ts'

class Named extends Deadline {
  readonly at: number
  private readonly told: () => void

  constructor(at: number, told: () => void) {
    super()
    this.at = at
    this.told = told
  }

  pass(): void {
    this.told()
  }
}

const world = () => {
  const clock = new VirtualClock()
  const deadlines = new Deadlines(clock)
  const passed: string[] = []
  const start = clock.now()
  const add = (name: string, afterMs: number): Deadline => {
    const deadline = new Named(start + afterMs, () => passed.push(name))
    deadlines.add(deadline)
    return deadline
  }
  const until = (afterMs: number): Promise<void> => clock.advance(start + afterMs - clock.now())
  return { deadlines, passed, add, until }
}

test('deadlines that are due together pass in the order in which they were added, each once', async () => {
  const { passed, add, until } = world()
  for (const [name, at] of [
    ['a', 20],
    ['b', 10],
    ['c', 10],
    ['d', 20],
  ] as const)
    add(name, at)
  await until(10)
  expect(passed).toEqual(['b', 'c'])
  await until(100)
  expect(passed).toEqual(['b', 'c', 'a', 'd'])
})

test('a removed deadline does not pass, whatever its position, and removing it twice is harmless', async () => {
  const { deadlines, passed, add, until } = world()
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => add(name, 10))
  for (const i of [0, 2, 4, 2, 0]) deadlines.remove(all[i] as Deadline)
  await until(10)
  expect(passed).toEqual(['b', 'd'])
  add('f', 20)
  deadlines.remove(all[1] as Deadline)
  await until(20)
  expect(passed).toEqual(['b', 'd', 'f'])
})

test('a deadline at infinity is not watched', async () => {
  const { deadlines, passed, add, until } = world()
  const endless = add('endless', Number.POSITIVE_INFINITY)
  add('a', 10)
  deadlines.remove(endless)
  await until(10)
  expect(passed).toEqual(['a'])
})
