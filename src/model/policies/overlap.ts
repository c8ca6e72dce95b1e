/**
 * What happens when a run should start while another of the same key has not ended. Parked runs count.
 *
 * Owns the verdict, and the lane of a key: which runs are in it and which candidates wait behind them.
 */
import { type Candidate, withoutEvent } from '../arrival.ts'
import { type DueMap, put, remove, valueAt } from '../due-map.ts'
import type { RunId } from '../ids.ts'

export type OverlapPolicy = 'allow' | 'skip' | 'buffer_one' | 'buffer_all' | 'cancel_running' | 'terminate_running'

export interface Lane {
  readonly running: readonly RunId[]
  readonly waiting: readonly Candidate[]
}

/** A lane with nobody running and somebody waiting is due at once. */
export type Lanes = DueMap<Lane>

export type OverlapVerdict =
  | { readonly kind: 'start'; readonly terminates: readonly RunId[] }
  | { readonly kind: 'wait'; readonly cancels: readonly RunId[]; readonly displaces: readonly Candidate[] }
  | { readonly kind: 'skip'; readonly detail: string }

const MAX_WAITING = 1_000
const EMPTY_LANE: Lane = { running: [], waiting: [] }

const START: OverlapVerdict = { kind: 'start', terminates: [] }

export const laneAt = (lanes: Lanes, key: string): Lane => valueAt(lanes, key) ?? EMPTY_LANE

const putLane = (lanes: Lanes, key: string, lane: Lane): Lanes => {
  if (lane.running.length === 0 && lane.waiting.length === 0) return remove(lanes, key)
  return put(lanes, key, lane, lane.running.length === 0 ? 0 : null)
}

export const judgeOverlap = ({ running, waiting }: Lane, policy: OverlapPolicy): OverlapVerdict => {
  const isFree = running.length === 0 && waiting.length === 0
  switch (policy) {
    case 'allow':
      return START
    case 'terminate_running':
      return { kind: 'start', terminates: running }
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
        : { kind: 'skip', detail: `RUN_BACKLOG_FULL: ${MAX_WAITING} wait already` }
  }
}

export const enterLane = (lanes: Lanes, key: string, run: RunId): Lanes => {
  const lane = laneAt(lanes, key)
  return putLane(lanes, key, { ...lane, running: [...lane.running, run] })
}

export const leaveLane = (lanes: Lanes, key: string, run: RunId): Lanes => {
  const lane = laneAt(lanes, key)
  return putLane(lanes, key, { ...lane, running: lane.running.filter((other) => other !== run) })
}

/** Those who waited longest are displaced first. */
export const waitInLane = (lanes: Lanes, candidate: Candidate, displaces: number): Lanes => {
  const lane = laneAt(lanes, candidate.overlapKey)
  return putLane(lanes, candidate.overlapKey, { ...lane, waiting: [...lane.waiting.slice(displaces), candidate] })
}

/** The first in line goes. */
export const callFromLane = (lanes: Lanes, key: string): Lanes => {
  const lane = laneAt(lanes, key)
  return putLane(lanes, key, { ...lane, waiting: lane.waiting.slice(1) })
}

/** One event is taken out of a waiting candidate, and the candidate with its last. */
export const withdrawFromLane = (lanes: Lanes, key: string, sequence: number): Lanes => {
  const lane = laneAt(lanes, key)
  const waiting = lane.waiting.flatMap((candidate) => withoutEvent(candidate, sequence) ?? [])
  return putLane(lanes, key, { ...lane, waiting })
}
