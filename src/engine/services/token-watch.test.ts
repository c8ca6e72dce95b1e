/** Watchers of a token are notified of its end, on a virtual clock. */
import { expect, test } from 'vitest'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { TokenWatch } from './token-watch.ts'

const LOOK_MS = 10_000
const NEVER = Number.POSITIVE_INFINITY

const open = () => {
  const clock = new VirtualClock(1_000)
  const revoked = new Set<string>()
  const asked: string[] = []
  const heard: string[] = []
  const trouble = { isOn: false }
  const counts = async (id: string): Promise<boolean> => {
    asked.push(id)
    if (trouble.isOn) throw new Error('away')
    return !revoked.has(id)
  }
  const watch = new TokenWatch({ clock, counts })
  const listen = (id: string, name: string, until = NEVER): (() => void) =>
    watch.watch(id, until, () => heard.push(name))
  return { clock, watch, listen, revoked, asked, heard, trouble }
}

test('token-watch-1: a token that this process revokes is reported at once to all its watchers, and only to them', () => {
  const { watch, listen, heard } = open()
  listen('a', 'first')
  listen('a', 'second')
  listen('b', 'other')
  watch.revoked('a')
  watch.revoked('a')
  expect(heard).toEqual(['first', 'second'])
})

test('token-watch-1: a token that another process revokes is reported with the next check, which looks up each token once', async () => {
  const { clock, listen, revoked, asked, heard } = open()
  listen('a', 'first')
  listen('a', 'second')
  listen('b', 'other')
  await clock.advance(LOOK_MS)
  expect([asked, heard]).toEqual([['a', 'b'], []])
  revoked.add('a')
  await clock.advance(LOOK_MS)
  expect(heard).toEqual(['first', 'second'])
})

test('token-watch-1: a login ends at its own expiry, even if its token is still valid', async () => {
  const { clock, listen, heard } = open()
  listen('a', 'login', clock.now() + LOOK_MS + 1)
  await clock.advance(LOOK_MS)
  expect(heard).toEqual([])
  await clock.advance(LOOK_MS)
  expect(heard).toEqual(['login'])
})

test('token-watch-2: a failed check ends nothing, and the next check reports the end', async () => {
  const { clock, listen, revoked, heard, trouble } = open()
  listen('a', 'reader')
  revoked.add('a')
  trouble.isOn = true
  await clock.advance(LOOK_MS)
  expect(heard).toEqual([])
  trouble.isOn = false
  await clock.advance(LOOK_MS)
  expect(heard).toEqual(['reader'])
})

test('a stopped watcher is not notified, and no token is checked while there is no watcher', async () => {
  const { clock, watch, listen, asked, heard } = open()
  listen('a', 'gone')()
  expect(clock.pending()).toEqual([])
  watch.revoked('a')
  await clock.advance(LOOK_MS * 3)
  expect([asked, heard]).toEqual([[], []])
})
