/** Questions of the same moment share a statement. */
import { expect, test } from 'vitest'
import { Gathered } from './gathered.ts'

const doubled = (most: number) => {
  const asked: (readonly number[])[] = []
  const gathered = new Gathered(async (numbers: readonly number[]) => {
    asked.push(numbers)
    return numbers.map((n) => 2 * n)
  }, most)
  return { asked, gathered }
}

test('questions of one moment are sent together, and each gets its own answer (14.2)', async () => {
  const { asked, gathered } = doubled(10)
  const [first, second] = [gathered.ask(1), gathered.ask(2)]
  // A question from a promise callback that is already due joins the same batch.
  const third = Promise.resolve().then(() => gathered.ask(1))
  expect(await Promise.all([first, second, third])).toEqual([2, 4, 2])
  expect(asked).toEqual([[1, 2, 1]])
  expect(await gathered.ask(5)).toBe(10)
  expect(asked).toEqual([[1, 2, 1], [5]])
})

test('a batch never has more questions than its limit (14.2)', async () => {
  const { asked, gathered } = doubled(2)
  expect(await Promise.all([1, 2, 3, 4, 5].map((n) => gathered.ask(n)))).toEqual([2, 4, 6, 8, 10])
  expect(asked).toEqual([[1, 2], [3, 4], [5]])
})

test('a failure rejects all questions of its batch, and no other (14.2)', async () => {
  let fails = true
  const gathered = new Gathered(async (numbers: readonly number[]) => {
    if (fails) throw new Error('away')
    return numbers
  }, 10)
  const both = await Promise.allSettled([gathered.ask(1), gathered.ask(2)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fails = false
  expect(await gathered.ask(3)).toBe(3)
})
