/**
 * What a worker reports of itself with every heartbeat: its name for people, its place, its capacity.
 *
 * Owns the shape. It serves pages and placement; a lease and its epoch never depend on it.
 */
import type { Instant } from '#model/kernel/ids.ts'

/** What decides which runs a worker may be given: its pool, its labels, and the modules its pool is limited to (null: all). */
export interface WorkerPlace {
  readonly pool: string | null
  readonly labels: Readonly<Record<string, string>>
  readonly modules: readonly string[] | null
}

export interface WorkerInfo extends WorkerPlace {
  /** Shown to people. Says nothing about the machine. */
  readonly name: string
  readonly slots: number
  readonly startedAt: Instant
  /** It claims nothing new, finishes what it has and leaves. */
  readonly drains: boolean
  /** It claims nothing new for now: it was paused, or everything was stopped. Absent: it claims runs, as far as it knows. */
  readonly halt?: 'paused' | 'stopped'
  /** The hash of the system whose code it runs. Absent: an older program, which does not know versions. */
  readonly version?: string
  /** The handlers whose runs it claims. Null or absent: every handler of its version, or too many to list. */
  readonly handlers?: readonly string[] | null
  /** Handlers whose runs of other versions it never claims (`pin: hard`). Absent: none. */
  readonly ownOnly?: readonly string[]
}

/** True if runs may be left to this worker. */
export const takesRuns = ({ drains, halt }: Pick<WorkerInfo, 'drains' | 'halt'>): boolean =>
  !drains && halt === undefined
