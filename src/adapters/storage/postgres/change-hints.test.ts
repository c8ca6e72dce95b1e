/** Who follows a stream is told of commits of others, and of nothing else. Two processes on a wire without a database. */
import { expect, test } from 'vitest'
import { type RunId, runId } from '#model/kernel/ids.ts'
import type { Append } from '#ports/ledger.ts'
import { ChangeHints } from './change-hints.ts'

const [ONE, OTHER] = ['01a1ee61-5fdc-7452-b7d5-d9c5a8389dbb', '01a1ee61-5fdc-7452-b7d5-d9c5a8389dbc'].map(runId) as [
  RunId,
  RunId,
]

/** What one says the others hear, at once. */
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

test('a commit to a stream that is followed elsewhere is told; one to another stream is not', () => {
  const { ether, heard, follow, worker } = pair()
  follow(ONE)
  worker.committed(append(OTHER))
  worker.committed(append(ONE))
  expect([heard, ether.said]).toEqual([[ONE], ['follow', 'changed']])
})

test('change-hints-1: a commit before the announcement is told when it arrives', () => {
  const { heard, follow, worker } = pair()
  worker.committed(append(ONE, OTHER))
  follow(ONE)
  expect(heard).toEqual([ONE])
})

test('nothing is said while no stream is followed, nor when its announcement is 15 seconds old', () => {
  const { ether, heard, follow, worker, pass } = pair()
  for (let i = 0; i < 10_000; i++) worker.committed(append(OTHER))
  expect(ether.said).toEqual([])
  follow(ONE)
  pass(15_000)
  worker.committed(append(ONE))
  expect(heard).toEqual([])
})

test('who has left hears nothing', () => {
  const { heard, follow, worker } = pair()
  follow(ONE)()
  worker.committed(append(ONE))
  expect(heard).toEqual([])
})
