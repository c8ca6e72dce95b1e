/**
 * Live updates from the server: one event stream for all tabs of a browser.
 *
 * The tab that holds a browser lock owns the connection and broadcasts each notice to the others. When it closes, another tab takes over.
 * A notice only says which query to refetch. The page never renders its content.
 */
import { mountPath } from './client.ts'
import { askWhoIAm } from './login.ts'

export interface Notice {
  readonly topic: string
  readonly id: string | null
}

type LiveState = 'live' | 'connecting'

type Listener = (notice: Notice) => void

/** The lock and channel name. It contains the mount path, because two applications of one origin may each embed the page. */
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

  /** This tab holds the connection for all tabs. */
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

  /** Never settles: the browser releases the lock when the tab closes. */
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
      // Notices from before the connection are lost, so refetch everything once.
      this.tell(EVERYTHING)
    }
    source.addEventListener('notice', ({ data }) => this.tell(JSON.parse(data) as Notice))
    source.addEventListener('reset', () => this.tell(EVERYTHING))
    source.onerror = () => this.lose(source)
  }

  /** Reconnects by hand: EventSource stops for good after some responses. */
  private lose(source: EventSource): void {
    if (source !== this.source) return
    source.close()
    this.source = null
    this.become('connecting')
    // EventSource does not say why it failed: the login may have expired.
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
