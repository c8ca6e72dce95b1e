/** When runs began and ended, in the order in which the store recorded it: what coordinators promise about runs of one key. */
import type { RunFact } from '#model/run/fact.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { LookedRun } from '#test/chaos/sim/look.ts'
import type { Witness } from '#test/chaos/sim/witness.ts'

/** For a run that was retried, the life up to its first end. */
export interface Span {
  readonly run: LookedRun
  readonly bornAt: number
  readonly endedAt: number
  readonly end: RunStatus | null
}

const STATUS: Readonly<Record<string, RunStatus>> = {
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
  'run.expired': 'expired',
  'run.quarantined': 'quarantined',
}

export const endOf = (fact: RunFact): RunStatus | null =>
  fact.type === 'run.completed' ? fact.status : (STATUS[fact.type] ?? null)

export const spanOf = (run: LookedRun, witness: Witness): Span => {
  const writes = witness.writes.filter(({ stream }) => stream === run.id)
  const last = run.facts.findIndex((fact) => endOf(fact) !== null)
  const ending = writes.find(({ fromSeq, facts }) => last >= fromSeq && last < fromSeq + facts)
  const end = run.facts[last]
  return {
    run,
    bornAt: writes[0]?.tick ?? 0,
    endedAt: ending?.tick ?? Number.POSITIVE_INFINITY,
    end: end === undefined ? null : endOf(end),
  }
}

/** One life of a run: from its creation or a retry to its end. */
export interface Life {
  readonly run: LookedRun
  readonly bornAt: number
  readonly endedAt: number
  readonly end: RunStatus | null
  /** It ended with the write that began it: a retry that waited and was turned away. */
  readonly isEmpty: boolean
}

export const livesOf = (run: LookedRun, witness: Witness): readonly Life[] => {
  const ticks = witness.writes
    .filter(({ stream }) => stream === run.id)
    .flatMap(({ facts, tick }) => Array.from({ length: facts }, () => tick))
  const lives: Life[] = []
  for (const [seq, fact] of run.facts.entries()) {
    const at = ticks[seq] ?? 0
    const last = lives.at(-1)
    if (fact.type === 'run.started' || fact.type === 'run.retried')
      lives.push({ run, bornAt: at, endedAt: Number.POSITIVE_INFINITY, end: null, isEmpty: false })
    else if (endOf(fact) !== null && last !== undefined)
      lives[lives.length - 1] = { ...last, endedAt: at, end: endOf(fact), isEmpty: at === last.bornAt }
  }
  return lives
}

export const groups = <T>(list: readonly T[], keyOf: (one: T) => string): readonly (readonly T[])[] => {
  const found = new Map<string, T[]>()
  for (const one of list) found.set(keyOf(one), [...(found.get(keyOf(one)) ?? []), one])
  return [...found.values()]
}

/** No two of these live at the same time. */
export const overlapping = (spans: readonly Span[], who: string): readonly string[] =>
  spans
    .toSorted((a, b) => a.bornAt - b.bornAt)
    .flatMap((span, i, all) => {
      const before = all[i - 1]
      return before !== undefined && before.endedAt >= span.bornAt
        ? [`overlap: ${span.run.id} of ${who} began while ${before.run.id} had not ended`]
        : []
    })

/** Longer than it takes to find a coordinator whose worker died. */
const TOLD_WITHIN_MS = 20_000

/** A run that was to be stopped was notified, or had ended by itself. */
export const unstopped = (
  facts: readonly { readonly type: string; readonly at: number; readonly run?: string }[],
  runs: ReadonlyMap<string, LookedRun>,
): readonly string[] =>
  facts.flatMap((fact) => {
    const run = fact.type.endsWith('.cancel_wanted') ? runs.get(fact.run ?? '') : undefined
    if (run === undefined || run.facts.some(({ type }) => type === 'run.cancel_requested')) return []
    const end = run.facts.find((one) => endOf(one) !== null)
    return end !== undefined && end.at - fact.at < TOLD_WITHIN_MS ? [] : [`overlap: ${run.id} was never told to stop`]
  })

/** Every run that the coordinator's facts name exists as they say, and every run of its handler is named once. */
export const misborn = (
  coordinator: { readonly id: string; readonly handler: string },
  named: readonly { readonly run: string; readonly isTracked: boolean; readonly caller?: string | undefined }[],
  runs: readonly LookedRun[],
): readonly string[] => {
  const known = new Map<string, LookedRun>(runs.map((run) => [run.id, run]))
  const counts = new Map<string, number>()
  for (const { run } of named) counts.set(run, (counts.get(run) ?? 0) + 1)
  return [
    ...named.flatMap(({ run, isTracked, caller }) => {
      const found = known.get(run)
      if (found === undefined) return [`coordinator-1: ${coordinator.id} has started ${run}, which does not exist`]
      const parent = caller ?? (isTracked ? coordinator.id : null)
      return found.stream.parent === parent
        ? []
        : [`coordinator-1: ${run} has parent ${found.stream.parent}, not ${parent}`]
    }),
    ...runs.flatMap(({ id }) =>
      counts.get(id) === 1
        ? []
        : [`coordinator-1: ${id} of ${coordinator.handler} is named by ${counts.get(id) ?? 0} facts`],
    ),
  ]
}
