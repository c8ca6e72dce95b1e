/**
 * Notifies watchers when a token is no longer valid, so that work under it, such as an open stream, ends.
 *
 * Owns the periodic check. Costs nothing without watchers; each token is checked once, however many watchers it has.
 *
 * token-watch-1  A watcher is notified of the end once: immediately if this process revokes the token, with the next check if another
 *                process does or the token has expired.
 * token-watch-2  A check that fails reports nothing: the next check asks again.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'

export interface TokenWatchDeps {
  readonly clock: Pick<Clock, 'now' | 'at'>
  /** True if the token or login with this id is still valid. */
  readonly counts: (id: string) => Promise<boolean>
}

interface Watcher {
  readonly until: Instant
  readonly over: () => void
}

/** Interval of the checks: how long a token that another process has revoked may still be used. */
const LOOK_MS = 10_000

export class TokenWatch {
  private readonly deps: TokenWatchDeps
  private readonly watchers = new Map<string, Set<Watcher>>()
  private cancel: (() => void) | null = null

  constructor(deps: TokenWatchDeps) {
    this.deps = deps
  }

  /** `until`: when the login that was made with the token expires. The returned function stops the watch. */
  watch(id: string, until: Instant, over: () => void): () => void {
    const watcher = { until, over }
    const beside = this.watchers.get(id)
    if (beside === undefined) this.watchers.set(id, new Set([watcher]))
    else beside.add(watcher)
    this.lookLater()
    return () => this.forget(id, watcher)
  }

  /** token-watch-1: notifies all watchers of the token. */
  revoked(id: string): void {
    for (const watcher of [...(this.watchers.get(id) ?? [])]) this.tell(id, watcher)
  }

  private tell(id: string, watcher: Watcher): void {
    this.forget(id, watcher)
    watcher.over()
  }

  private forget(id: string, watcher: Watcher): void {
    const left = this.watchers.get(id)
    left?.delete(watcher)
    if (left?.size === 0) this.watchers.delete(id)
    if (this.watchers.size > 0) return
    this.cancel?.()
    this.cancel = null
  }

  private lookLater(): void {
    const { clock } = this.deps
    this.cancel ??= clock.at(clock.now() + LOOK_MS, () => {
      this.cancel = null
      void this.look()
    })
  }

  private async look(): Promise<void> {
    await Promise.all([...this.watchers.keys()].map((id) => this.lookAt(id)))
    if (this.watchers.size > 0) this.lookLater()
  }

  private async lookAt(id: string): Promise<void> {
    const counts = await this.deps.counts(id).catch(() => true)
    const now = this.deps.clock.now()
    for (const watcher of [...(this.watchers.get(id) ?? [])])
      if (!counts || watcher.until <= now) this.tell(id, watcher)
  }
}
