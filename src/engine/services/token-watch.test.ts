/** What goes on under a token hears of its end, on the virtual clock. */
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

test('token-watch-1: what this process revokes is told at once, to all who watch it and to nobody else', () => {
  const { watch, listen, heard } = open()
  listen('a', 'first')
  listen('a', 'second')
  listen('b', 'other')
  watch.revoked('a')
  watch.revoked('a')
  expect(heard).toEqual(['first', 'second'])
})

test('token-watch-1: what another process revokes is told with the next look, and each token is asked about once', async () => {
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

test('token-watch-1: what was made with a token ends at its own time, though the token counts', async () => {
  const { clock, listen, heard } = open()
  listen('a', 'login', clock.now() + LOOK_MS + 1)
  await clock.advance(LOOK_MS)
  expect(heard).toEqual([])
  await clock.advance(LOOK_MS)
  expect(heard).toEqual(['login'])
})

test('token-watch-2: a look that fails ends nothing, and the next one tells', async () => {
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

test('whoever has left hears nothing, and nobody is asked about while nobody watches', async () => {
  const { clock, watch, listen, asked, heard } = open()
  listen('a', 'gone')()
  expect(clock.pending()).toEqual([])
  watch.revoked('a')
  await clock.advance(LOOK_MS * 3)
  expect([asked, heard]).toEqual([[], []])
})
