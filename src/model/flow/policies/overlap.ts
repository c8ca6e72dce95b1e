/**
 * Decides what happens when a run should start while another of the same key has not ended. Parked runs count.
 *
 * Owns the verdict, and the line of a key: which runs are in it and which candidates wait after them.
 */
import { type Candidate, withoutEvent } from '#model/event/arrival.ts'
import { type DueMap, put, remove, valueAt } from '#model/kernel/due-map.ts'
import type { RunId } from '#model/kernel/ids.ts'

export type OverlapPolicy =
  | 'allow'
  | 'skip'
  | 'buffer_one'
  | 'buffer_all'
  | 'cancel_running'
  | 'terminate_running'
  /** From `on_limit` of concurrency: if the bound is reached, the oldest or the newest run is stopped for the next one. */
  | 'stop_oldest'
  | 'stop_newest'

export interface Line<Waiting = Candidate> {
  readonly running: readonly RunId[]
  readonly waiting: readonly Waiting[]
}

/** A line with waiting candidates and no running run is due at once. */
export type Lines = DueMap<Line>

export type OverlapVerdict<Waiting> =
  | { readonly kind: 'start'; readonly terminates: readonly RunId[] }
  | { readonly kind: 'wait'; readonly cancels: readonly RunId[]; readonly displaces: readonly Waiting[] }
  | { readonly kind: 'skip'; readonly detail: string }

export const MAX_WAITING = 1_000
const EMPTY_LINE: Line = { running: [], waiting: [] }

const START: OverlapVerdict<never> = { kind: 'start', terminates: [] }

export const lineAt = (lines: Lines, key: string): Line => valueAt(lines, key) ?? EMPTY_LINE

const putLine = (lines: Lines, key: string, line: Line): Lines => {
  if (line.running.length === 0 && line.waiting.length === 0) return remove(lines, key)
  return put(lines, key, line, line.running.length === 0 ? 0 : null)
}

/** `room`: how many runs of a key may run at once. */
export const judgeOverlap = <Waiting>(
  { running, waiting }: Line<Waiting>,
  policy: OverlapPolicy,
  room = 1,
): OverlapVerdict<Waiting> => {
  const isFree = running.length < room && waiting.length === 0
  switch (policy) {
    case 'allow':
      return START
    case 'terminate_running':
      return { kind: 'start', terminates: running }
    case 'stop_oldest':
      return { kind: 'start', terminates: running.slice(0, Math.max(0, running.length - room + 1)) }
    case 'stop_newest':
      return { kind: 'start', terminates: running.slice(room - 1) }
    case 'skip':
      return isFree ? START : { kind: 'skip', detail: `${running[0] ?? 'another run'} has not ended` }
    case 'buffer_one':
      return isFree ? START : { kind: 'wait', cancels: [], displaces: waiting }
    case 'cancel_running':
      return isFree ? START : { kind: 'wait', cancels: running, displaces: waiting }
    case 'buffer_all':
      if (isFree) return START
      return waiting.length < MAX_WAITING
        ? { kind: 'wait', cancels: [], displaces: [] }
        : { kind: 'skip', detail: `RUN_BACKLOG_FULL: ${MAX_WAITING} are already waiting` }
  }
}

export const enterLine = (lines: Lines, key: string, run: RunId): Lines => {
  const line = lineAt(lines, key)
  return putLine(lines, key, { ...line, running: [...line.running, run] })
}

export const leaveLine = (lines: Lines, key: string, run: RunId): Lines => {
  const line = lineAt(lines, key)
  return putLine(lines, key, { ...line, running: line.running.filter((other) => other !== run) })
}

/** The candidates that have waited longest are displaced first. */
export const waitInLine = (lines: Lines, candidate: Candidate, displaces: number): Lines => {
  const line = lineAt(lines, candidate.overlapKey)
  return putLine(lines, candidate.overlapKey, { ...line, waiting: [...line.waiting.slice(displaces), candidate] })
}

/** Removes the first waiting candidate. */
export const callFromLine = (lines: Lines, key: string): Lines => {
  const line = lineAt(lines, key)
  return putLine(lines, key, { ...line, waiting: line.waiting.slice(1) })
}

/** Removes one event from a waiting candidate, and the candidate with its last event. */
export const withdrawFromLine = (lines: Lines, key: string, sequence: number): Lines => {
  const line = lineAt(lines, key)
  const waiting = line.waiting.flatMap((candidate) => withoutEvent(candidate, sequence) ?? [])
  return putLine(lines, key, { ...line, waiting })
}
