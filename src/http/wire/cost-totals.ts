/**
 * The costs of models by day, agent and model, computed from the facts of each model call.
 *
 * Owns the reading of a call and the sums. The day before yesterday and earlier ones are summed once per process and cached: their facts do
 * not change (docs/decisions/0055). Money is whole micro-dollars here; unknown prices are counted separately, never as zero.
 */
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { Instant, RunId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { ModelCallFact, ModelCallQuery, Reader } from '#ports/reader.ts'
import type { RunSpent } from './run-costs.ts'

export const DAY_MS = 86_400_000
const PAGE = 1_000
const MOST_DAYS_KEPT = 400

export interface Spent {
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** The cost of the calls whose price is known. */
  readonly micros: number
  readonly unpricedCalls: number
  readonly unpricedTokens: number
  /** Calls without a valid answer. */
  readonly failedCalls: number
  /** The cost that others report for calls without a known price. */
  readonly unverifiedMicros: number
}

export interface CostRow extends Spent {
  /** The day in UTC, counted from 1970. */
  readonly day: number
  readonly agent: string
  readonly model: string
  readonly isSimulated: boolean
}

interface Call {
  readonly model: string
  readonly input: number
  readonly output: number
  readonly micros: number | null
  readonly unverified: number
  readonly isFailed: boolean
  readonly isSimulated: boolean
}

type Members = { readonly [name: string]: Json }
const UNKNOWN = 'unknown'

const members = (value: Json | undefined): Members | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null
const amount = (value: Json | undefined): number => (typeof value === 'number' && value >= 0 ? value : 0)
const micros = (value: Json | undefined): number | null => (typeof value === 'number' ? value : null)
const word = (value: Json | undefined): string => (typeof value === 'string' ? value : UNKNOWN)

/** Reads the reply of an agent's step `agent/model[n]`. */
const ofAgent = (record: Members): Call | null => {
  const reply = members(record['reply'])
  if (reply !== null) {
    const usage = members(reply['usage']) ?? {}
    const cost = members(reply['cost']) ?? {}
    return {
      model: word(reply['modelUsed']),
      input: amount(usage['input']),
      output: amount(usage['output']),
      micros: micros(cost['micros']),
      unverified: amount(cost['unverified']),
      isFailed: false,
      isSimulated: reply['isSimulated'] === true,
    }
  }
  const code = members(record['failure'])?.['code']
  // A BUDGET_ code means that the remaining budget did not suffice: the model was not called.
  if (typeof code !== 'string' || code.startsWith('BUDGET_')) return null
  const used = members(record['used'])
  return {
    model: word(record['model']),
    input: amount(used?.['tokens']),
    output: 0,
    micros: micros(used?.['micros']),
    unverified: 0,
    isFailed: true,
    isSimulated: record['isSimulated'] === true,
  }
}

/** Reads what `step.execute` records of a task that a model did. */
const ofTask = ({ modelUsed, usage }: Members): Call | null => {
  const used = members(usage)
  if (typeof modelUsed !== 'string' || used === null) return null
  const [input, output] = [amount(used['tokensInput']), amount(used['tokensOutput'])]
  return {
    model: modelUsed,
    input,
    output,
    micros: micros(used['cost']),
    unverified: amount(used['unverified']),
    isFailed: false,
    isSimulated: modelUsed.startsWith('simulated'),
  }
}

const NOTHING_KNOWN: Call = {
  ...{ model: UNKNOWN, input: 0, output: 0, micros: null, unverified: 0 },
  ...{ isFailed: false, isSimulated: false },
}

/** Null: the fact is not a model call. If a reply is too long for a fact, its `bill` is stored there; older facts have none. */
export const callIn = (fact: RunFact): Call | null => {
  if (fact.type !== 'step.completed') return null
  const isAgent = fact.step.startsWith('agent/model[')
  const { result } = fact
  const record = members('value' in result ? result.value : result.bill)
  if (record === null) return isAgent && 'blob' in result ? NOTHING_KNOWN : null
  return isAgent ? ofAgent(record) : ofTask(record)
}

const NOTHING: Spent = {
  ...{ calls: 0, inputTokens: 0, outputTokens: 0, micros: 0, unpricedCalls: 0, unpricedTokens: 0 },
  ...{ failedCalls: 0, unverifiedMicros: 0 },
}

const addSpent = (a: Spent, b: Spent): Spent => ({
  calls: a.calls + b.calls,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  micros: a.micros + b.micros,
  unpricedCalls: a.unpricedCalls + b.unpricedCalls,
  unpricedTokens: a.unpricedTokens + b.unpricedTokens,
  failedCalls: a.failedCalls + b.failedCalls,
  unverifiedMicros: a.unverifiedMicros + b.unverifiedMicros,
})

/** One call as a sum. */
export const spentBy = ({ input, output, micros: price, unverified, isFailed }: Call): Spent => ({
  calls: 1,
  inputTokens: input,
  outputTokens: output,
  micros: price ?? 0,
  unpricedCalls: price === null ? 1 : 0,
  unpricedTokens: price === null ? input + output : 0,
  failedCalls: isFailed ? 1 : 0,
  unverifiedMicros: price === null ? unverified : 0,
})

export const DIMENSIONS = ['day', 'agent', 'model'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** Merges rows that are equal in these dimensions; simulated calls stay apart from paid ones. */
export const sumBy = (rows: readonly CostRow[], by: readonly Dimension[]): readonly (Spent & Partial<CostRow>)[] => {
  const sums = new Map<string, Spent & Partial<CostRow>>()
  for (const row of rows) {
    const named = { ...Object.fromEntries(by.map((name) => [name, row[name]])), isSimulated: row.isSimulated }
    const key = JSON.stringify(named)
    sums.set(key, { ...named, ...addSpent(sums.get(key) ?? NOTHING, row) })
  }
  return [...sums.values()]
}

export const total = (rows: readonly Spent[]): Spent => rows.reduce(addSpent, NOTHING)

/** One day: costs by agent and model, and by run. */
interface Day {
  readonly rows: readonly CostRow[]
  /** The newest runs that paid for a model; simulated calls are left out. */
  readonly runs: readonly RunSpent[]
}

/** The most runs of a day whose cost is cached. */
const MOST_RUNS_KEPT = 1_000

const addToRun = (runs: Map<RunId, RunSpent>, run: RunId, { micros: price }: Call): void => {
  const before = runs.get(run) ?? { run, micros: 0, unpricedCalls: 0 }
  // Moves the run to the end: the newest come last.
  runs.delete(run)
  runs.set(run, {
    run,
    micros: before.micros + (price ?? 0),
    unpricedCalls: before.unpricedCalls + (price === null ? 1 : 0),
  })
}

/** Days in UTC, counted from 1970, both included. */
interface Days {
  readonly from: number
  readonly to: number
}

export class CostBook {
  readonly #reader: Pick<Reader, 'modelCalls'>
  readonly #days = new Map<string, Day>()

  constructor(reader: Pick<Reader, 'modelCalls'>) {
    this.#reader = reader
  }

  async rows(tenant: TenantId, { from, to }: Days, now: Instant): Promise<readonly CostRow[]> {
    const rows: CostRow[] = []
    for (let day = from; day <= to; day++) rows.push(...(await this.#day(tenant, day, now)).rows)
    return rows
  }

  /** The cost of each run in these days, the newest first, at most `most`. */
  async runs(tenant: TenantId, { from, to }: Days, now: Instant, most: number): Promise<readonly RunSpent[]> {
    const sums = new Map<RunId, RunSpent>()
    for (let day = to; day >= from; day--)
      for (const { run, micros: paid, unpricedCalls } of (await this.#day(tenant, day, now)).runs.toReversed()) {
        const before = sums.get(run)
        if (before === undefined && sums.size >= most) continue
        sums.set(run, {
          run,
          micros: paid + (before?.micros ?? 0),
          unpricedCalls: unpricedCalls + (before?.unpricedCalls ?? 0),
        })
      }
    return [...sums.values()]
  }

  async #day(tenant: TenantId, day: number, now: Instant): Promise<Day> {
    const key = `${day} ${tenant}`
    const kept = this.#days.get(key)
    if (kept !== undefined) return kept
    const read = await this.#read(tenant, day)
    // Clocks of workers differ, so yesterday is not cached yet.
    if (day < Math.floor(now / DAY_MS) - 1) {
      this.#days.set(key, read)
      const [oldest] = this.#days.keys()
      if (this.#days.size > MOST_DAYS_KEPT && oldest !== undefined) this.#days.delete(oldest)
    }
    return read
  }

  async #read(tenant: TenantId, day: number): Promise<Day> {
    const rows: CostRow[] = []
    const runs = new Map<RunId, RunSpent>()
    let after: ModelCallQuery['after'] = null
    for (;;) {
      const page: readonly ModelCallFact[] = await this.#reader.modelCalls({
        tenant,
        from: day * DAY_MS,
        to: (day + 1) * DAY_MS,
        after,
        limit: PAGE,
      })
      for (const found of page) {
        const call = callIn(readRunFact(found.fact))
        if (call === null) continue
        rows.push({ day, agent: found.handler, model: call.model, isSimulated: call.isSimulated, ...spentBy(call) })
        if (!call.isSimulated) addToRun(runs, found.run, call)
      }
      after = page.at(-1) ?? null
      if (page.length < PAGE)
        return {
          rows: sumBy(rows, DIMENSIONS) as readonly CostRow[],
          runs: [...runs.values()].slice(-MOST_RUNS_KEPT),
        }
    }
  }
}
