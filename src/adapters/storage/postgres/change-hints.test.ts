/** A follower of a stream is notified of commits of other processes only. Two processes on a wire without a database. */
import { expect, test } from 'vitest'
import { type RunId, runId } from '#model/kernel/ids.ts'
import type { Append } from '#ports/ledger.ts'
import { ChangeHints } from './change-hints.ts'

const [ONE, OTHER] = ['01a1ee61-5fdc-7452-b7d5-d9c5a8389dbb', '01a1ee61-5fdc-7452-b7d5-d9c5a8389dbc'].map(runId) as [
  RunId,
  RunId,
]

/** A wire that delivers each message to the other processes at once. */
class Ether {
  readonly said: string[] = []
  readonly #ears = new Set<(payload: string) => void>()

  wire = (onMessage: (payload: string) => void) => {
    this.#ears.add(onMessage)
    return {
      open: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: (payload: string) => {
        this.said.push(payload.split(',')[0] ?? '')
        for (const ear of this.#ears) if (ear !== onMessage) ear(payload)
      },
    }
  }
}

const append = (...streams: readonly RunId[]): readonly Append[] => [
  { writes: streams.map((stream) => ({ stream })) } as unknown as Append,
]

const pair = () => {
  const ether = new Ether()
  let now = 0
  const [reader, worker] = [new ChangeHints(ether.wire), new ChangeHints(ether.wire, () => now)]
  const heard: RunId[] = []
  const follow = (run: RunId) => reader.follow(run, () => heard.push(run))
  return { ether, heard, follow, worker, pass: (ms: number) => (now += ms) }
}

test('a commit to a stream that another process follows is notified; one to another stream is not', () => {
  const { ether, heard, follow, worker } = pair()
  follow(ONE)
  worker.committed(append(OTHER))
  worker.committed(append(ONE))
  expect([heard, ether.said]).toEqual([[ONE], ['follow', 'changed']])
})

test('change-hints-1: a commit before the announcement is notified when the announcement arrives', () => {
  const { heard, follow, worker } = pair()
  worker.committed(append(ONE, OTHER))
  follow(ONE)
  expect(heard).toEqual([ONE])
})

test('no message is sent while no stream is followed, nor when its announcement is 15 seconds old', () => {
  const { ether, heard, follow, worker, pass } = pair()
  for (let i = 0; i < 10_000; i++) worker.committed(append(OTHER))
  expect(ether.said).toEqual([])
  follow(ONE)
  pass(15_000)
  worker.committed(append(ONE))
  expect(heard).toEqual([])
})

test('a listener that was removed is not called', () => {
  const { heard, follow, worker } = pair()
  follow(ONE)()
  worker.committed(append(ONE))
  expect(heard).toEqual([])
})
