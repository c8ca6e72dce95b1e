/**
 * What a worker says of itself with every beat: its name among people, where it stands, what it can hold.
 *
 * Owns the words. They serve pages and placement; a lease and its epoch never depend on them.
 */
import type { Instant } from '#model/kernel/ids.ts'

/** Whom a run may be given to: its pool, what it is labelled with, and the modules its pool is limited to (null: all). */
export interface WorkerPlace {
  readonly pool: string | null
  readonly labels: Readonly<Record<string, string>>
  readonly modules: readonly string[] | null
}

export interface WorkerInfo extends WorkerPlace {
  /** For people. Says nothing about the machine. */
  readonly name: string
  readonly slots: number
  readonly startedAt: Instant
  /** It takes nothing new, finishes what it has and leaves. */
  readonly drains: boolean
  /** It takes nothing new for now: it was told to pause, or everything was stopped. Absent: it does, as far as it knows. */
  readonly halt?: 'paused' | 'stopped'
  /** The hash of the system whose code it runs. Absent: an older program, which knows of no versions. */
  readonly version?: string
  /** The handlers whose runs it takes. Null or absent: every handler of its version, or too many to list. */
  readonly handlers?: readonly string[] | null
  /** Those of them whose runs of other versions it never takes (`pin: hard`). Absent: none. */
  readonly ownOnly?: readonly string[]
}

/** Whether anything may be left to it. */
export const takesRuns = ({ drains, halt }: Pick<WorkerInfo, 'drains' | 'halt'>): boolean =>
  !drains && halt === undefined
