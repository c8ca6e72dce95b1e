/**
 * News for open pages: what should be asked again, never the thing itself.
 *
 * Owns the last notices, so that a page that was away for a moment catches up, and what a notice is about. A page that was away longer,
 * or across a restart, is told to ask for everything. Knows the commits of this process only.
 *
 * live-1  A reader that names the last position it saw gets every later notice once and in order, or is told to reset.
 */
import type { Change } from '../engine/publish.ts'

export const TOPIC_NAMES = ['runs', 'events', 'schedules', 'tasks', 'sessions'] as const
export type Topic = (typeof TOPIC_NAMES)[number]

export interface Notice {
  readonly topic: Topic
  readonly id: string | null
}

export interface Heard {
  readonly position: string
  readonly notice: Notice
}

export type Listener = (heard: Heard) => void

const KEPT = 1_000
const PREFIX = 4

/** What each kind of stream is shown as. */
const TOPICS: Readonly<Record<string, Topic>> = { run_: 'runs', sch_: 'schedules', tsk_: 'tasks', ses_: 'sessions' }

/** What one append is news about. */
export const noticesOf = ({ streams, events }: Change): readonly Notice[] => {
  const notices: Notice[] = events > 0 ? [{ topic: 'events', id: null }] : []
  for (const stream of streams) {
    const topic = TOPICS[stream.slice(0, PREFIX)]
    if (topic !== undefined) notices.push({ topic, id: stream })
  }
  return notices
}

export class LiveFeed {
  /** Names this process: positions of another one mean nothing here. */
  private readonly life: string
  private readonly listeners = new Set<Listener>()
  private readonly kept: Heard[] = []
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

  /** The position of a reader that begins now. */
  get position(): string {
    return `${this.life}-${this.count}`
  }

  /** What came after this position; null if that cannot be told. */
  since(position: string): readonly Heard[] | null {
    const [life, text = ''] = position.split('-')
    const seen = Number(text)
    if (life !== this.life || !/^\d+$/.test(text) || seen > this.count) return null
    const missed = this.count - seen
    return missed > this.kept.length ? null : this.kept.slice(this.kept.length - missed)
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}
