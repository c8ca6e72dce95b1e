/**
 * Tells a process that follows a stream when another process has committed to it, over one connection of its own.
 *
 * Owns who follows what. A follower announces its streams, and again every five seconds; who commits to an announced stream tells it. So
 * nothing is sent while no stream is followed elsewhere. Hints only: followers also look by themselves, now and then.
 *
 * change-hints-1  A commit that came before the announcement arrived is told when it arrives: the last 1,000 streams are remembered.
 */
import type { StreamId } from '#model/kernel/ids.ts'
import type { Append } from '#ports/ledger.ts'
import { toUuid } from './rows.ts'
import type { Wire } from './wire.ts'

const ANNOUNCE_MS = 5_000
/** An announcement that is not repeated is over after so long. */
const FOLLOWED_MS = 15_000
const MOST_REMEMBERED = 1_000
const MOST_FOLLOWED = 10_000
/** A notification carries less than 8000 bytes. */
const IDS_PER_MESSAGE = 200
/** Between two messages of one kind: what comes meanwhile shares the next. */
const SILENCE_MS = 5

type Kind = 'follow' | 'changed'

/** The last streams, each once. */
class Recent {
  readonly #streams = new Set<string>()

  add(uuid: string): void {
    this.#streams.delete(uuid)
    this.#streams.add(uuid)
    if (this.#streams.size > MOST_REMEMBERED) this.#streams.delete(this.#streams.values().next().value ?? '')
  }

  has(uuid: string): boolean {
    return this.#streams.has(uuid)
  }
}

export class ChangeHints {
  readonly #wire: Pick<Wire, 'open' | 'send' | 'close'>
  readonly #now: () => number
  readonly #listeners = new Map<string, Set<() => void>>()
  /** Until when a stream is followed by another process. */
  readonly #followed = new Map<string, number>()
  readonly #recent = new Recent()
  readonly #unsent: Record<Kind, Set<string>> = { follow: new Set(), changed: new Set() }
  #silence: NodeJS.Timeout | null = null
  #announcing: NodeJS.Timeout | null = null
  #isOpen = false
  #isClosed = false

  constructor(wire: (onMessage: (payload: string) => void) => Pick<Wire, 'open' | 'send' | 'close'>, now = Date.now) {
    this.#wire = wire((payload) => this.#hear(payload))
    this.#now = now
  }

  /** A process that writes must hear what is followed. Safe to call again. */
  open(): void {
    if (this.#isOpen || this.#isClosed) return
    this.#isOpen = true
    void this.#wire.open()
  }

  /** `listener` is called soon after another process has committed to the stream. */
  follow(stream: StreamId, listener: () => void): () => void {
    this.open()
    const uuid = toUuid(stream)
    const known = this.#listeners.get(uuid)
    const listeners = known ?? new Set()
    listeners.add(listener)
    this.#listeners.set(uuid, listeners)
    if (known === undefined) this.#tell('follow', [uuid])
    this.#announcing ??= setInterval(() => this.#tell('follow', [...this.#listeners.keys()]), ANNOUNCE_MS).unref()
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0 || this.#listeners.get(uuid) !== listeners) return
      this.#listeners.delete(uuid)
      if (this.#listeners.size === 0) this.#rest()
    }
  }

  /** A batch of this process is in the ledger. */
  committed(batch: readonly Append[]): void {
    this.open()
    const now = this.#now()
    for (const { writes } of batch)
      for (const { stream } of writes) {
        const uuid = toUuid(stream)
        this.#recent.add(uuid)
        const until = this.#followed.get(uuid)
        if (until === undefined) continue
        if (until > now) this.#tell('changed', [uuid])
        else this.#followed.delete(uuid)
      }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#rest()
    if (this.#silence !== null) clearTimeout(this.#silence)
    this.#silence = null
    await this.#wire.close()
  }

  #rest(): void {
    if (this.#announcing !== null) clearInterval(this.#announcing)
    this.#announcing = null
  }

  #hear(payload: string): void {
    const [kind, ...uuids] = payload.split(',')
    if (kind === 'changed') for (const uuid of uuids) for (const listener of this.#listeners.get(uuid) ?? []) listener()
    if (kind !== 'follow') return
    const isNew = (uuid: string): boolean => !this.#followed.has(uuid)
    const missed = uuids.filter((uuid) => isNew(uuid) && this.#recent.has(uuid))
    for (const uuid of uuids) this.#remember(uuid)
    if (missed.length > 0) this.#tell('changed', missed)
  }

  #remember(uuid: string): void {
    // The oldest announcement goes first, also where many followers have left without a word.
    this.#followed.delete(uuid)
    this.#followed.set(uuid, this.#now() + FOLLOWED_MS)
    if (this.#followed.size > MOST_FOLLOWED) this.#followed.delete(this.#followed.keys().next().value ?? '')
  }

  #tell(kind: Kind, uuids: readonly string[]): void {
    if (this.#isClosed) return
    for (const uuid of uuids) this.#unsent[kind].add(uuid)
    if (this.#silence === null) this.#flush()
  }

  /** Sends what is unsent, then is silent for a moment, then sends what has come meanwhile. */
  #flush(): void {
    let hasSent = false
    for (const kind of ['follow', 'changed'] as const) {
      const uuids = [...this.#unsent[kind]]
      this.#unsent[kind].clear()
      for (let at = 0; at < uuids.length; at += IDS_PER_MESSAGE) {
        hasSent = true
        this.#wire.send([kind, ...uuids.slice(at, at + IDS_PER_MESSAGE)].join(','))
      }
    }
    if (!hasSent) return
    this.#silence = setTimeout(() => {
      this.#silence = null
      this.#flush()
    }, SILENCE_MS).unref()
  }
}
