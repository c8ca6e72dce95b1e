/**
 * Computes the bars of the timeline from the marks of a run: the states of each step and its outcome, in order of start.
 *
 * Pure. The server decides which state a mark leads to. Does not draw.
 */
import type { Mark, RunMarks } from '../../api/documents.ts'

/** `life`: the run exists; its steps show what it does. */
export type State = 'queued' | 'work' | 'human' | 'event' | 'child' | 'sleep' | 'retry' | 'doubt' | 'paused' | 'life'

export type Modality = 'agent' | 'human' | 'workflow'

/** One continuous state of a step. */
export interface Segment {
  readonly state: State
  readonly from: number
  /** Null: not ended yet. */
  readonly to: number | null
  readonly attempt: number
}

export interface Bar {
  /** Null: the run itself. */
  readonly step: string | null
  readonly hand: Modality
  readonly pieces: readonly Segment[]
  readonly outcome: 'open' | 'done' | 'failed' | 'skipped' | 'left'
  readonly attempts: number
  /** The child run or task of the step. */
  readonly child: string | null
  /** Code of its error. */
  readonly code: string | null
}

export interface Bars {
  readonly run: Bar
  readonly steps: readonly Bar[]
}

interface Draft {
  hand: Modality
  pieces: Segment[]
  outcome: 'open' | 'done' | 'failed' | 'skipped'
  attempt: number
  child: string | null
  code: string | null
}

const isEnd = (state: Mark['becomes']): state is 'done' | 'failed' | 'skipped' =>
  state === 'done' || state === 'failed' || state === 'skipped'

const newDraft = (): Draft => ({
  hand: 'workflow',
  pieces: [],
  outcome: 'open',
  attempt: 1,
  child: null,
  code: null,
})

/** The work before the first mark of a step. It started at its measured duration before the mark, else at the previous mark. */
const unseenWork = (mark: Mark, at: number, before: number): Segment | null => {
  if (!isEnd(mark.becomes) && mark.becomes !== 'retry' && mark.becomes !== 'doubt') return null
  if (mark.becomes === 'skipped') return { state: 'work', from: at, to: at, attempt: 1 }
  const from = mark.ms === undefined ? before : at - mark.ms
  return { state: 'work', from, to: at, attempt: 1 }
}

const closeLast = (draft: Draft, at: number): void => {
  const last = draft.pieces.at(-1)
  if (last !== undefined && (last.to === null || draft.outcome !== 'open'))
    draft.pieces.splice(-1, 1, { ...last, to: at })
}

const become = (draft: Draft, state: NonNullable<Mark['becomes']>, at: number, isRun: boolean): void => {
  const last = draft.pieces.at(-1)
  if (isEnd(state)) {
    closeLast(draft, at)
    draft.outcome = state
    return
  }
  const next: State = isRun && state === 'work' ? 'life' : state
  const isSame = last?.to === null && last.state === next
  if (draft.outcome === 'open' && isSame) return
  if (draft.outcome === 'open') closeLast(draft, at)
  const isAgain = (last?.state === 'retry' || last?.state === 'doubt') && next === 'work'
  if (isAgain) draft.attempt += 1
  draft.outcome = 'open'
  draft.code = null
  draft.pieces.push({ state: next, from: at, to: null, attempt: draft.attempt })
}

const hear = (draft: Draft, mark: Mark, at: number, before: number): void => {
  const isRun = mark.step === undefined
  if (draft.pieces.length === 0 && !isRun)
    draft.pieces.push(...[unseenWork(mark, at, before)].filter((one) => one !== null))
  if (mark.becomes !== undefined) become(draft, mark.becomes, at, isRun)
  draft.hand = mark.hand ?? draft.hand
  draft.child = mark.child ?? draft.child
  draft.code = mark.code ?? draft.code
  draft.attempt = Math.max(draft.attempt, mark.attempt ?? 1)
}

const barOf = (step: string | null, draft: Draft, end: number | null): Bar => {
  const { hand, pieces, outcome, attempt, child, code } = draft
  const isLeft = outcome === 'open' && end !== null
  return {
    ...{ step, hand, child, code, attempts: attempt },
    outcome: isLeft ? 'left' : outcome,
    pieces: isLeft ? pieces.map((piece) => (piece.to === null ? { ...piece, to: end } : piece)) : pieces,
  }
}

/** The current state of the run, if no mark shows it yet: queued, or running a step. */
const unseen = (status: RunMarks['status'], steps: readonly Bar[], since: number): readonly Segment[] => {
  const piece = { from: since, to: null, attempt: 1 } as const
  if (status === 'queued') return [{ ...piece, state: 'queued' }]
  const isAtWork = steps.some(({ pieces }) => pieces.some(({ state, to }) => state === 'work' && to === null))
  return status === 'running' && !isAtWork ? [{ ...piece, state: 'work' }] : []
}

export const barsOf = ({ status, marks }: Pick<RunMarks, 'status' | 'marks'>): Bars => {
  const run = newDraft()
  const steps = new Map<string, Draft>()
  let before = marks[0] === undefined ? 0 : Date.parse(marks[0].at)
  for (const mark of marks) {
    const at = Date.parse(mark.at)
    const draft = mark.step === undefined ? run : (steps.get(mark.step) ?? newDraft())
    if (mark.step !== undefined) steps.set(mark.step, draft)
    hear(draft, mark, at, before)
    before = at
  }
  const end = run.outcome === 'open' ? null : (run.pieces.at(-1)?.to ?? null)
  const bars = [...steps].map(([step, draft]) => barOf(step, draft, end))
  const whole = barOf(null, run, end)
  return { run: { ...whole, pieces: [...whole.pieces, ...unseen(status, bars, before)] }, steps: bars }
}

export const beganAt = ({ pieces }: Bar): number =>
  pieces.reduce((first, { from }) => Math.min(first, from), Number.POSITIVE_INFINITY)

export const endedAt = ({ pieces }: Bar, now: number): number =>
  pieces.reduce((last, { to }) => Math.max(last, to ?? now), Number.NEGATIVE_INFINITY)

/** The current or last state. */
export const stateOf = ({ pieces }: Bar): State => pieces.at(-1)?.state ?? 'work'

/** One bar per attempt. Empty if there was only one. */
export const attemptsOf = (bar: Bar): readonly Bar[] => {
  if (bar.attempts < 2) return []
  return Array.from({ length: bar.attempts }, (_, i) => {
    const pieces = bar.pieces.filter(({ attempt }) => attempt === i + 1)
    const isLast = i + 1 === bar.attempts
    return { ...bar, pieces, attempts: 1, outcome: isLast ? bar.outcome : 'failed', code: isLast ? bar.code : null }
  })
}
