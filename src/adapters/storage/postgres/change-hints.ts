/**
 * Notifies a process that follows a stream when another process has committed to it, over its own connection.
 *
 * Owns the set of followed streams. A follower announces its streams, and repeats that every five seconds; a process that commits to an
 * announced stream notifies it. So nothing is sent while no other process follows a stream. Hints only: followers also poll periodically.
 *
 * change-hints-1  A commit that came before an announcement is notified when the announcement arrives: the last 1,000 streams are kept.
 */
import type { StreamId } from '#model/kernel/ids.ts'
import type { Append } from '#ports/ledger.ts'
import { toUuid } from './rows.ts'
import type { Wire } from './wire.ts'

const ANNOUNCE_MS = 5_000
/** An announcement that is not repeated expires after this time. */
const FOLLOWED_MS = 15_000
const MOST_REMEMBERED = 1_000
const MOST_FOLLOWED = 10_000
/** A notification is limited to less than 8000 bytes. */
const IDS_PER_MESSAGE = 200
/** Pause between two messages of one kind: changes in the meantime share the next message. */
const SILENCE_MS = 5

type Kind = 'follow' | 'changed'

/** The most recent streams, each once. */
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
  /** The instant until which another process follows a stream. */
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

  /** A process that writes must receive announcements. Safe to call again. */
  open(): void {
    if (this.#isOpen || this.#isClosed) return
    this.#isOpen = true
    void this.#wire.open()
  }

  /** Calls `listener` soon after another process has committed to the stream. */
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

  /** Called after a batch of this process was committed to the ledger. */
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
    // The oldest announcement is dropped first, also where many followers have left without notice.
    this.#followed.delete(uuid)
    this.#followed.set(uuid, this.#now() + FOLLOWED_MS)
    if (this.#followed.size > MOST_FOLLOWED) this.#followed.delete(this.#followed.keys().next().value ?? '')
  }

  #tell(kind: Kind, uuids: readonly string[]): void {
    if (this.#isClosed) return
    for (const uuid of uuids) this.#unsent[kind].add(uuid)
    if (this.#silence === null) this.#flush()
  }

  /** Sends the unsent ids, pauses, then sends those that were added meanwhile. */
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
