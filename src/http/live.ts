/**
 * News for open pages: what should be asked again, never the thing itself.
 *
 * Owns the last notices, so that a page that was away for a moment catches up, and what a notice is about. A page that was away longer,
 * or across a restart, is told to ask for everything. Knows the commits of this process only.
 *
 * live-1  A reader that names the last position it saw gets every later notice once and in order, or is told to reset.
 */
import type { RunNotice } from '../engine/publish.ts'
import type { RunFact } from '../model/run-fact.ts'

export type Topic = 'runs' | 'events' | 'schedules' | 'tasks'

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

const sendsEvents = (fact: RunFact): boolean =>
  (fact.type === 'step.completed' || fact.type === 'run.completed') && (fact.events?.length ?? 0) > 0

const isBySchedule = (fact: RunFact): boolean => fact.type === 'run.started' && fact.input.kind === 'scheduled'

/** What one commit of a run is news about. */
export const topicsOf = ({ facts }: Pick<RunNotice, 'facts'>): readonly Topic[] => {
  const topics = new Set<Topic>(['runs'])
  for (const fact of facts) {
    if (fact.type === 'run.started' || sendsEvents(fact)) topics.add('events')
    if (isBySchedule(fact)) topics.add('schedules')
  }
  return [...topics]
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
    if (life !== this.life || !Number.isSafeInteger(seen) || seen > this.count) return null
    const missed = this.count - seen
    return missed > this.kept.length ? null : this.kept.slice(this.kept.length - missed)
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}
