/** Rules that the simulation does not reach: each holds, and each mistake that is seeded into it is found by the same proof. */
import { expect, test } from 'vitest'
import { PROOFS } from '#test/chaos/rules/proofs.ts'

test.each(PROOFS)('$name', async ({ prove }) => {
  await expect(prove()).resolves.toBeUndefined()
})

test.each(PROOFS.flatMap(({ mutants }) => mutants))('a seeded bug of a rule is found: $name', async ({ isFound }) => {
  expect(await isFound()).toBe(true)
})
