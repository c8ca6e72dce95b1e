/**
 * News from the server: one stream for all tabs of a browser.
 *
 * The tab that holds a lock owns the connection and passes on what it hears; when it closes, the next one takes over. A notice only
 * says what to ask again: nothing on the page is made from it.
 */
import { mountPath } from './client.ts'
import { askWhoIAm } from './login.ts'

export interface Notice {
  readonly topic: string
  readonly id: string | null
}

type LiveState = 'live' | 'connecting'

type Listener = (notice: Notice) => void

/** One stream for each server: two applications of one origin may each embed one, below paths of their own. */
const SHARED = `trihand-live${mountPath()}`
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

type Message =
  | { readonly kind: 'notice'; readonly notice: Notice }
  | { readonly kind: 'state'; readonly state: LiveState }
  | { readonly kind: 'hello' }

const EVERYTHING: Notice = { topic: '*', id: null }

class Live {
  private readonly listeners = new Set<Listener>()
  private readonly watchers = new Set<(state: LiveState) => void>()
  private readonly channel = new BroadcastChannel(SHARED)
  private source: EventSource | null = null
  private pauseMs = FIRST_PAUSE_MS
  state: LiveState = 'connecting'

  /** This tab has the connection, and speaks for all of them. */
  get isOwner(): boolean {
    return this.source !== null
  }

  start(): void {
    this.channel.onmessage = ({ data }: MessageEvent<Message>) => this.hear(data)
    this.channel.postMessage({ kind: 'hello' } satisfies Message)
    if ('locks' in navigator) void navigator.locks.request(SHARED, () => this.own())
    else this.connect()
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  watch(watcher: (state: LiveState) => void): () => void {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }

  /** Never settles: the lock goes with the tab. */
  private own(): Promise<never> {
    this.connect()
    return new Promise(() => {})
  }

  private connect(): void {
    const source = new EventSource(`${mountPath()}/api/stream`)
    this.source = source
    source.onopen = () => {
      this.pauseMs = FIRST_PAUSE_MS
      this.become('live')
      // What happened before anybody listened, also between the first question and now, is unknown: ask for everything once.
      this.tell(EVERYTHING)
    }
    source.addEventListener('notice', ({ data }) => this.tell(JSON.parse(data) as Notice))
    source.addEventListener('reset', () => this.tell(EVERYTHING))
    source.onerror = () => this.lose(source)
  }

  /** Rebuilt by hand: a browser gives up for good on some answers. */
  private lose(source: EventSource): void {
    if (source !== this.source) return
    source.close()
    this.source = null
    this.become('connecting')
    // It does not say why: the login may have ended.
    void askWhoIAm()
    setTimeout(() => this.connect(), this.pauseMs)
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS)
  }

  private hear(message: Message): void {
    if (message.kind === 'notice') this.pass(message.notice)
    else if (message.kind === 'state') this.show(message.state)
    else if (this.source !== null) this.channel.postMessage({ kind: 'state', state: this.state } satisfies Message)
  }

  private tell(notice: Notice): void {
    this.channel.postMessage({ kind: 'notice', notice } satisfies Message)
    this.pass(notice)
  }

  private pass(notice: Notice): void {
    for (const listener of this.listeners) listener(notice)
  }

  private become(state: LiveState): void {
    this.channel.postMessage({ kind: 'state', state } satisfies Message)
    this.show(state)
  }

  private show(state: LiveState): void {
    this.state = state
    for (const watcher of this.watchers) watcher(state)
  }
}

export const live = new Live()
