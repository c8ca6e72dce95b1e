/**
 * Who is to hear when a token stands for nobody any more: whatever goes on under it, such as an open stream, ends then.
 *
 * Owns the looking again. Costs nothing while nobody watches; each token is asked about once, however many watch it.
 *
 * token-watch-1  Whoever watches hears of the end once: at once if this process revokes the token, after at most one look if another
 *                process does or its time has come.
 * token-watch-2  A look that fails says nothing: the next one is asked again.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'

export interface TokenWatchDeps {
  readonly clock: Pick<Clock, 'now' | 'at'>
  /** Whether the token of this name still counts. */
  readonly counts: (id: string) => Promise<boolean>
}

interface Watcher {
  readonly until: Instant
  readonly over: () => void
}

/** How long what another process has revoked may still be used. */
const LOOK_MS = 10_000

export class TokenWatch {
  private readonly deps: TokenWatchDeps
  private readonly watchers = new Map<string, Set<Watcher>>()
  private cancel: (() => void) | null = null

  constructor(deps: TokenWatchDeps) {
    this.deps = deps
  }

  /** `until`: when what was made with the token ends by itself. The answer stops it. */
  watch(id: string, until: Instant, over: () => void): () => void {
    const watcher = { until, over }
    const beside = this.watchers.get(id)
    if (beside === undefined) this.watchers.set(id, new Set([watcher]))
    else beside.add(watcher)
    this.lookLater()
    return () => this.forget(id, watcher)
  }

  /** token-watch-1. */
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
