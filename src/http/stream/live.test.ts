/** The change feed of one process: what a reader that was away receives, and which notices a commit causes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StreamId } from '#model/kernel/ids.ts'
import { LiveFeed, noticesOf } from './live.ts'

const about = (id: number) => ({ topic: 'runs', id: String(id) }) as const

test('live-1: a reader that was away receives what it missed, once and in order, or a reset', () =>
  fc.assert(
    fc.property(fc.nat(1_500), fc.nat(1_500), (before, missed) => {
      const feed = new LiveFeed('life')
      for (let i = 0; i < before; i++) feed.tell(about(i))
      const { position } = feed
      for (let i = 0; i < missed; i++) feed.tell(about(before + i))
      const heard = feed.since(position)
      if (missed > 1_000) expect(heard).toBe(null)
      else
        expect(heard?.map(({ notice }) => notice.id)).toEqual(
          Array.from({ length: missed }, (_, i) => String(before + i)),
        )
    }),
    { numRuns: 60 },
  ))

test.each(['other-3', 'life-9', 'life-x', 'life', ''])(
  'live-1: the position %j is not valid in this process',
  (position) => {
    const feed = new LiveFeed('life')
    feed.tell(about(1))
    expect(feed.since(position)).toBe(null)
  },
)

const follow = (feed: LiveFeed, after: string) => {
  const heard: (string | null)[] = []
  const leave = feed.follow(after, {
    receive: ({ notice }) => heard.push(notice.id),
    reset: (position) => heard.push(`reset ${position}`),
  })
  return { heard, leave }
}

test('a new reader receives what comes from then on, until it leaves', async () => {
  const feed = new LiveFeed('life')
  feed.tell(about(1))
  const position = await feed.begin()
  feed.tell(about(2))
  const { heard, leave } = follow(feed, position)
  feed.tell(about(3))
  leave()
  feed.tell(about(4))
  expect(heard).toEqual(['2', '3'])
})

test('a reader that reconnects receives what it missed, and then what comes', () => {
  const feed = new LiveFeed('life')
  feed.tell(about(1))
  feed.tell(about(2))
  const { heard } = follow(feed, 'life-1')
  feed.tell(about(3))
  expect(heard).toEqual(['2', '3'])
})

test('a reader with a position of another process receives a reset, and then what comes', () => {
  const feed = new LiveFeed('life')
  feed.tell(about(1))
  const { heard } = follow(feed, 'other-1')
  feed.tell(about(2))
  expect(heard).toEqual(['reset life-1', '2'])
})

test('an append causes notices about its streams and its events', () => {
  const streams = ['run_1', 'ses_2', 'tsk_3', 'gat_4', 'sch_5'] as unknown as readonly StreamId[]
  expect(noticesOf({ streams, events: 1 })).toEqual([
    { topic: 'events', id: null },
    { topic: 'runs', id: 'run_1' },
    { topic: 'sessions', id: 'ses_2' },
    { topic: 'tasks', id: 'tsk_3' },
    { topic: 'schedules', id: 'sch_5' },
  ])
  expect(noticesOf({ streams: [], events: 0 })).toEqual([])
})
