/** The queue compared with a plain list: whatever is added, taken and let in, both hold the same items in the same order. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IntrusiveQueue, type QueueItem } from './intrusive-queue.ts'

interface Person extends QueueItem<Person> {
  readonly name: number
}

const person = (name: number): Person => ({ name, behind: null })

const lineOf = (names: readonly number[]): IntrusiveQueue<Person> => {
  const line = new IntrusiveQueue<Person>()
  for (const name of names) line.add(person(name))
  return line
}

const emptied = (line: IntrusiveQueue<Person>): readonly number[] => {
  const names: number[] = []
  for (let next = line.take(); next !== null; next = line.take()) names.push(next.name)
  return names
}

const names = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 5 })

test('items are taken in the order in which they were added, and those of a queue that is let in come before the others', () => {
  fc.assert(
    fc.property(names, names, names, (waiting, others, late) => {
      const line = lineOf(waiting)
      const rest = lineOf(others)
      line.letIn(rest)
      for (const name of late) line.add(person(name))
      expect(rest.isEmpty).toBe(true)
      expect(line.isEmpty).toBe(waiting.length + others.length + late.length === 0)
      expect(line.some(({ name }) => name === 3)).toBe([...waiting, ...others, ...late].includes(3))
      expect(emptied(line)).toEqual([...others, ...waiting, ...late])
      expect(line.isEmpty).toBe(true)
    }),
  )
})

test('an item that was taken or cleared can be added again', () => {
  const [ana, ben] = [person(1), person(2)]
  const line = new IntrusiveQueue<Person>()
  line.add(ana)
  line.add(ben)
  expect(line.take()).toBe(ana)
  line.add(ana)
  line.clear()
  expect([line.isEmpty, ana.behind, ben.behind]).toEqual([true, null, null])
  line.add(ben)
  line.add(ana)
  expect(emptied(line)).toEqual([2, 1])
})
