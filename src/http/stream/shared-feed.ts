/**
 * The change feed for open pages where several processes commit: reads the store's feed (ports/change-feed.ts) once for all pages.
 *
 * Owns when it is read: at once after a commit of this process, and periodically for those of others; never while no page is open. If the
 * store fails, the next read starts at the same position: the pages receive the changes later, and miss nothing.
 *
 * shared-1  A reader that names the last position it saw, even of another process or an earlier start of this one, receives every later
 *           notice once and in order, or a reset.
 */
import type { TenantChangeFeed } from '#http/server/service.ts'
import type { Change, ChangePosition } from '#ports/change-feed.ts'
import { type Feed, type FeedReader, NEW_EVENTS, noticeOf, type PlacedNotice } from './live.ts'

const LOOK_MS = 250
/** The pause between two reads, whatever caused the next one. */
const REST_MS = 50

interface Seat {
  /** The position that the page gave when it connected. */
  readonly after: string
  readonly reader: FeedReader
  isTaken: boolean
}

const POSITION = /^([0-9a-f]{1,32})-(\d{1,15})-(\d{1,9})$/

const textOf = ({ life, at, place }: ChangePosition): string => `${life}-${at}-${place}`

const positionOf = (text: string): ChangePosition | null => {
  const [, life, at, place] = POSITION.exec(text) ?? []
  return life === undefined ? null : { life, at: Number(at), place: Number(place) }
}

const heardOf = ({ stream, next }: Change): readonly PlacedNotice[] => {
  const notice = stream === null ? NEW_EVENTS : noticeOf(stream)
  return notice === null ? [] : [{ position: textOf(next), notice }]
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref())

export class SharedFeed implements Feed {
  private readonly changeFeed: TenantChangeFeed
  private readonly seats = new Set<Seat>()
  /** Everything before it was sent to the seated readers. */
  private next: ChangePosition | null = null
  private timer: NodeJS.Timeout | null = null
  private isLooking = false
  private isAsked = false

  constructor(changeFeed: TenantChangeFeed) {
    this.changeFeed = changeFeed
  }

  get position(): string {
    return this.next === null ? '' : textOf(this.next)
  }

  /** While pages are open, the position of the last read is used: what has come since then is sent again, and nothing is missed. */
  async begin(): Promise<string> {
    return textOf(this.timer === null || this.next === null ? await this.changeFeed.begin() : this.next)
  }

  follow(after: string, reader: FeedReader): () => void {
    const seat: Seat = { after, reader, isTaken: false }
    this.seats.add(seat)
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref()
    this.look()
    return () => this.leave(seat)
  }

  /** One read at a time; one that is requested meanwhile follows. */
  look(): void {
    this.isAsked = true
    if (this.isLooking || this.seats.size === 0) return
    this.isLooking = true
    void this.lookWhileAsked()
  }

  private leave(seat: Seat): void {
    this.seats.delete(seat)
    if (this.seats.size > 0 || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
  }

  private async lookWhileAsked(): Promise<void> {
    while (this.isAsked && this.seats.size > 0) {
      this.isAsked = false
      // The next read begins where this one failed.
      await this.turn().catch(() => {})
      await pause(REST_MS)
    }
    this.isLooking = false
  }

  /** A reader that connects while the store is read may know a later position than the read returns: it is seated after the next read. */
  private async turn(): Promise<void> {
    const arrived = [...this.seats].filter(({ isTaken }) => !isTaken)
    const next = await this.advance()
    for (const seat of arrived) await this.seat(seat, next)
  }

  private async advance(): Promise<ChangePosition> {
    const page = this.next === null ? null : await this.changeFeed.since(this.next)
    const next = page?.next ?? (await this.changeFeed.begin())
    const readers = [...this.seats].filter(({ isTaken }) => isTaken).map(({ reader }) => reader)
    this.next = next
    if (page === null) for (const reader of readers) reader.reset(textOf(next))
    for (const heard of (page?.items ?? []).flatMap(heardOf)) for (const reader of readers) reader.receive(heard)
    return next
  }

  private async seat(seat: Seat, next: ChangePosition): Promise<void> {
    const { after, reader } = seat
    const missed = after === textOf(next) ? [] : await this.missedSince(after, next)
    // It may have left while the store was read.
    if (!this.seats.has(seat)) return
    seat.isTaken = true
    if (missed === null) reader.reset(textOf(next))
    for (const heard of missed ?? []) reader.receive(heard)
  }

  /** The notices between the reader's position and `next`; later ones are sent to all seated readers. */
  private async missedSince(after: string, next: ChangePosition): Promise<readonly PlacedNotice[] | null> {
    const position = positionOf(after)
    if (position === null || position.life !== next.life || position.at > next.at) return null
    const page = await this.changeFeed.since(position)
    return page?.items.filter((item) => item.next.at < next.at).flatMap(heardOf) ?? null
  }
}
