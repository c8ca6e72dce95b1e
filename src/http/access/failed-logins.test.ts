/** Limits on wrong tokens: how many an address may send, and how many addresses are remembered. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FailedLogins } from './failed-logins.ts'

const MINUTE = 60_000

test('failures-1: after the tenth wrong token an address must wait, until a minute after the first', () => {
  const failures = new FailedLogins()
  for (let i = 0; i < 10; i++) {
    expect(failures.waitOf('a', i * 1_000)).toBe(null)
    failures.failed('a', i * 1_000)
  }
  expect(failures.waitOf('a', 9_500)).toBe(51)
  expect(failures.waitOf('b', 9_500)).toBe(null)
  expect(failures.waitOf('a', MINUTE - 1)).toBe(1)
  expect(failures.waitOf('a', MINUTE)).toBe(null)
})

test('failures-1: in any history an address waits exactly if ten failures fell into its window', () =>
  fc.assert(
    fc.property(fc.array(fc.nat(20_000), { maxLength: 60 }), (pauses) => {
      const failures = new FailedLogins()
      let [now, until, count] = [0, -1, 0]
      for (const pause of pauses) {
        now += pause
        if (now >= until) [until, count] = [now + MINUTE, 0]
        expect(failures.waitOf('a', now) !== null).toBe(count >= 10)
        failures.failed('a', now)
        count += 1
      }
    }),
  ))

test('failures-2: when there are too many addresses, the oldest is forgotten', () => {
  const failures = new FailedLogins()
  const fail = (address: string): void => {
    for (let i = 0; i < 10; i++) failures.failed(address, 0)
  }
  fail('first')
  fail('second')
  for (let i = 0; i < 9_999; i++) failures.failed(`other ${i}`, 0)
  expect([failures.waitOf('first', 0), failures.waitOf('second', 0)]).toEqual([null, 60])
})

test('a request without a known address never waits', () => {
  const failures = new FailedLogins()
  for (let i = 0; i < 20; i++) failures.failed(null, 0)
  expect(failures.waitOf(null, 0)).toBe(null)
})
