/**
 * Lets a caller wait for the end of a run: this process reports it at once, other processes send hints, and the caller polls besides.
 *
 * Owns when the caller should look again. Never looks itself.
 *
 * run-end-1  Hints of other processes come with every commit of the run; the looks that follow them are a twentieth of the time waited
 *            so far apart, so that a run of a thousand steps is looked at some dozens of times.
 */
import type { Publish } from '#engine/core/publish.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { isEnded } from '#model/run/status.ts'
import type { ChangeFeed } from '#ports/change-feed.ts'
import type { Clock } from '#ports/clock.ts'

const SHARE = 20

export class RunEnd {
  private readonly clock: Clock
  private readonly begunAt: number
  private readonly undo: readonly (() => void)[]
  /** Whether something happened since the last look. */
  private isWorthIt = false
  private lookedAt: number
  private cancelHint: (() => void) | null = null
  private wake: (() => void) | null = null

  constructor(
    {
      clock,
      publish,
      changeFeed,
    }: { clock: Clock; publish: Publish; changeFeed: Pick<ChangeFeed, 'follow'> | undefined },
    run: RunId,
  ) {
    this.clock = clock
    this.begunAt = clock.now()
    this.lookedAt = this.begunAt
    const ended = publish.subscribe((notice) => {
      if (notice.run === run && isEnded(notice.status)) this.tell()
    })
    this.undo = [ended, ...(changeFeed === undefined ? [] : [changeFeed.follow(run, () => this.hinted())])]
  }

  /** Settles when the run is worth looking at, and after `ms` milliseconds at the latest. */
  within(ms: number): Promise<void> {
    const { clock } = this
    this.lookedAt = clock.now()
    if (this.isWorthIt) {
      this.isWorthIt = false
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      const cancel = clock.at(this.lookedAt + ms, () => {
        this.wake = null
        resolve()
      })
      this.wake = () => {
        cancel()
        resolve()
      }
    })
  }

  forget(): void {
    this.cancelHint?.()
    for (const undo of this.undo) undo()
  }

  private tell(): void {
    const { wake } = this
    this.wake = null
    if (wake === null) this.isWorthIt = true
    else wake()
  }

  /** run-end-1. */
  private hinted(): void {
    if (this.cancelHint !== null) return
    const waited = this.clock.now() - this.begunAt
    this.cancelHint = this.clock.at(this.lookedAt + waited / SHARE, () => {
      this.cancelHint = null
      this.tell()
    })
  }
}
