/**
 * The change feed for open pages: what they should read again, never the data itself.
 *
 * Owns the topics of notices, and the last notices of this process, so that a page that was briefly disconnected can catch up. A page that
 * was away longer, or across a restart, receives a reset. Where other processes commit, too, shared-feed.ts is used.
 *
 * live-1  A reader that names the last position it saw receives every later notice once and in order, or a reset.
 */
import type { Change } from '#engine/core/publish.ts'
import type { StreamId } from '#model/kernel/ids.ts'

export const TOPIC_NAMES = ['runs', 'events', 'schedules', 'tasks', 'sessions'] as const
export type Topic = (typeof TOPIC_NAMES)[number]

export interface Notice {
  readonly topic: Topic
  readonly id: string | null
}

export interface PlacedNotice {
  readonly position: string
  readonly notice: Notice
}

/** An open page. */
export interface FeedReader {
  receive(heard: PlacedNotice): void
  /** The page reads everything again, and receives what comes after this position. */
  reset(position: string): void
}

export interface Feed {
  /** The position of a reader that begins now: nothing that is committed from now on is before it. */
  begin(): Promise<string>
  /** Sends what came after this position, and then what comes. Returns the function that ends it. */
  follow(after: string, reader: FeedReader): () => void
  /** The position of a reader that has received everything so far. */
  readonly position: string
}

type Listener = (heard: PlacedNotice) => void

const KEPT = 1_000
const PREFIX = 4

/** Maps the prefix of a stream's id to its topic. */
const TOPICS: Readonly<Record<string, Topic>> = { run_: 'runs', sch_: 'schedules', tsk_: 'tasks', ses_: 'sessions' }

/** Null: pages do not show this kind of stream. */
export const noticeOf = (stream: StreamId): Notice | null => {
  const topic = TOPICS[stream.slice(0, PREFIX)]
  return topic === undefined ? null : { topic, id: stream }
}

export const NEW_EVENTS: Notice = { topic: 'events', id: null }

/** The notices that one append causes. */
export const noticesOf = ({ streams, events }: Change): readonly Notice[] => {
  const notices: Notice[] = events > 0 ? [NEW_EVENTS] : []
  for (const stream of streams) {
    const notice = noticeOf(stream)
    if (notice !== null) notices.push(notice)
  }
  return notices
}

export class LiveFeed implements Feed {
  /** Identifies this process: positions of another one are not valid here. */
  private readonly life: string
  private readonly listeners = new Set<Listener>()
  private readonly kept: PlacedNotice[] = []
  private count = 0

  constructor(life: string) {
    this.life = life
  }

  tell(notice: Notice): void {
    this.count += 1
    const heard = { position: `${this.life}-${this.count}`, notice }
    this.kept.push(heard)
    if (this.kept.length > KEPT) this.kept.shift()
    for (const listener of this.listeners) listener(heard)
  }

  async begin(): Promise<string> {
    return this.position
  }

  follow(after: string, reader: FeedReader): () => void {
    const missed = this.since(after)
    if (missed === null) reader.reset(this.position)
    for (const heard of missed ?? []) reader.receive(heard)
    return this.listen((heard) => reader.receive(heard))
  }

  get position(): string {
    return `${this.life}-${this.count}`
  }

  /** The notices after this position; null if they are not known any more. */
  since(position: string): readonly PlacedNotice[] | null {
    const [life, text = ''] = position.split('-')
    const seen = Number(text)
    if (life !== this.life || !/^\d+$/.test(text) || seen > this.count) return null
    const missed = this.count - seen
    return missed > this.kept.length ? null : this.kept.slice(this.kept.length - missed)
  }

  private listen(listener: Listener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}
