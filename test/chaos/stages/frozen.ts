/**
 * Workers on Postgres that are stopped (SIGSTOP) in the middle of a payment and resumed later (SIGCONT), while people answer at once.
 *
 * A payment may be done twice only if the person who said "run again" was warned in words that the frozen worker may still act, and
 * then only by code that does not ask `stillMine` before its effect. The control removes the warning: the same check must detect that.
 */
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId, TaskId } from '#model/kernel/ids.ts'
import { uncertainRules } from '#model/run/uncertain-step.ts'
import type { TaskState } from '#model/task/fact.ts'
import { postgresVersion } from '#test/chaos/census.ts'
import { KINDS, type Kind, LEASE_MS, shopOf } from '#test/chaos/frozen/shop.ts'
import type { WorkerInput, WorkerLine } from '#test/chaos/frozen/worker.ts'
import { Program } from '#test/support/program.ts'
import { carefully, operator } from '#test/support/step-answer.ts'
import type { Cluster } from '#test/support/stores/postgres.ts'
import { freshSchema } from '#test/support/stores/postgres-schema.ts'
import { until } from '#test/support/until.ts'
import { onPostgres } from './on-postgres.ts'
import { type Control, Findings, type StageReport } from './report.ts'

export interface FrozenOptions {
  /** How often a worker is frozen and resumed. */
  readonly rounds: number
  readonly controlRounds: number
}

const NAME = 'frozen workers'
const MOST_AT_ONCE = 8
const PATIENCE_MS = 60_000
const WORKER = 'test/chaos/frozen/worker.ts'

/** When the worker resumes: before the answer, at the same moment, or after the run has ended. */
type Thaw = 'before' | 'with' | 'after'
const THAWS: readonly Thaw[] = ['after', 'with', 'before']

/** What is known of the payment of one run. */
interface Payment {
  begun: number
  effects: number
  over: number
  warned: boolean
}

class FrozenWorker {
  readonly program: Program
  readonly begun: string[] = []
  isReady = false

  constructor(database: string, onLine: (line: WorkerLine) => void) {
    this.program = new Program({ source: WORKER, input: { database } satisfies WorkerInput })
    void this.#listen(onLine)
  }

  async #listen(onLine: (line: WorkerLine) => void): Promise<void> {
    for (let line = await this.program.line(); line !== null; line = await this.program.line()) {
      const message = JSON.parse(line) as WorkerLine
      if (message.kind === 'ready') this.isReady = true
      if (message.kind === 'begun') this.begun.push(message.run)
      onLine(message)
    }
  }
}

class Scene {
  readonly payments = new Map<string, Payment>()
  readonly counts = { frozen: 0, asked: 0, runAgain: 0, warned: 0, happened: 0, late: 0, second: 0 }
  readonly #url: string
  readonly #workers: FrozenWorker[] = []
  #app: Trihand | null = null

  constructor(url: string) {
    this.#url = url
  }

  get app(): Trihand {
    if (this.#app === null) throw new Error('the scene is not open')
    return this.#app
  }

  async open(workers: number): Promise<void> {
    const system = shopOf({ say: (what, run) => this.#record(what, run) })
    this.#app = await createTrihand({ system, database: this.#url, leaseTtl: LEASE_MS })
    const onLine = (line: WorkerLine): void => {
      if (line.kind !== 'ready') this.#record(line.kind, line.run)
    }
    for (let n = 0; n < workers; n++) this.#workers.push(new FrozenWorker(this.#url, onLine))
    const isReady = (): boolean => this.#workers.every((one) => one.isReady)
    await until(isReady, Boolean, { timeoutMs: PATIENCE_MS, what: 'the workers' })
  }

  async close(): Promise<void> {
    for (const { program } of this.#workers) await program.kill()
    await this.#app?.close()
  }

  paymentOf(run: string): Payment {
    const found = this.payments.get(run) ?? { begun: 0, effects: 0, over: 0, warned: false }
    this.payments.set(run, found)
    return found
  }

  #record(what: 'begun' | 'effect' | 'over', run: string): void {
    const payment = this.paymentOf(run)
    if (what === 'effect') payment.effects++
    else payment[what]++
  }

  /** How many workers are frozen at once, each in the middle of its payments. */
  async round(count: number, first: number): Promise<void> {
    await Promise.all(this.#workers.slice(0, count).map((worker, n) => this.#freeze(worker, thawOf(first + n))))
    const isOver = (): boolean => [...this.payments.values()].every(({ begun, over }) => begun === over)
    await until(isOver, Boolean, { timeoutMs: PATIENCE_MS, what: 'the end of every attempt' })
  }

  async #freeze({ program, begun }: FrozenWorker, thaw: Thaw): Promise<void> {
    begun.length = 0
    program.say('start')
    const haveBegun = (): boolean => begun.length >= KINDS.length
    await until(haveBegun, Boolean, { timeoutMs: PATIENCE_MS, everyMs: 1, what: 'payments that have begun' })
    program.signal('SIGSTOP')
    this.counts.frozen++
    const runs = begun.slice(0, KINDS.length) as RunId[]
    const goOn = (): void => program.signal('SIGCONT')
    await Promise.all(runs.map((run) => this.#question(run)))
    if (thaw !== 'after') goOn()
    await Promise.all(runs.map((run) => this.#settle(run, thaw === 'before')))
    goOn()
  }

  /** Effects before the process was frozen may have been recorded, too: such a run asks nothing. */
  #question(run: RunId): Promise<unknown> {
    const look = async (): Promise<boolean> =>
      (await this.#taskOf(run)) !== null || (await this.app.result(run, { wait: 0 })).status === 'success'
    return until(look, Boolean, { timeoutMs: PATIENCE_MS, everyMs: 50, what: `the question about ${run}` })
  }

  async #taskOf(run: RunId): Promise<TaskId | null> {
    try {
      return await this.app.tasks.ofStep(run, 'charge')
    } catch (error) {
      if (error instanceof TrihandError && (error.code === 'NOT_FOUND' || error.code === 'STEP_AT_WORK')) return null
      throw error
    }
  }

  /** Answers until the run has ended: a question may have changed meanwhile, or be asked again. */
  async #settle(run: RunId, waitsForLate: boolean): Promise<void> {
    const step = async (): Promise<boolean> => {
      if ((await this.app.result(run, { wait: 0 })).status === 'success') return true
      const task = await this.#taskOf(run)
      if (task !== null) await this.#answer(run, task, waitsForLate)
      return false
    }
    await until(step, Boolean, { timeoutMs: PATIENCE_MS, everyMs: 25, what: `the end of ${run}` })
  }

  /** An honest person: what the evidence says has happened has happened; else it is run again. Two people answer at once. */
  async #answer(run: RunId, task: TaskId, waitsForLate: boolean): Promise<void> {
    const { state } = await this.app.tasks.show(task)
    if (state.kind !== 'open') return
    const late = lateOf(state)
    if (waitsForLate && late === null) return
    const action = late !== null && 'result' in late ? 'it_happened' : 'run_again'
    const careful = carefully(state, action)
    const said = await Promise.allSettled(
      ['ana', 'ben'].map((who) => this.app.tasks.submit(task, operator(who), { action, ...careful })),
    )
    const accepted = said.filter(({ status }) => status === 'fulfilled').length
    for (const one of said) if (one.status === 'rejected' && !isOvertaken(one.reason)) throw one.reason as Error
    if (accepted > 1) this.counts.second++
    if (accepted === 0) return
    this.counts.asked++
    if (late !== null) this.counts.late++
    if (action === 'it_happened') this.counts.happened++
    else this.counts.runAgain++
    if (careful.acknowledged !== true) return
    this.counts.warned++
    this.paymentOf(run).warned = true
  }

  /** One sentence for each payment with a wrong result. */
  async judge(): Promise<{ readonly wrong: readonly string[]; readonly warned: number }> {
    const wrong: string[] = []
    let warned = 0
    for (const [run, { effects, warned: isWarned }] of this.payments) {
      const { handler } = (await this.app.reader.run(this.app.tenant, run as RunId)) ?? {}
      const kind = handler as Kind
      if (effects === 2 && isWarned && kind === 'plain') warned++
      else if (effects !== 1)
        wrong.push(`a ${kind} payment was done ${effects} times${isWarned ? '' : ', and no person was warned'}`)
    }
    return { wrong, warned }
  }
}

const thawOf = (n: number): Thaw => THAWS[n % THAWS.length] ?? 'after'

const isOvertaken = (error: unknown): boolean =>
  error instanceof TrihandError && ['TASK_CLOSED', 'STALE_VIEW', 'CONFLICT'].includes(error.code)

const lateOf = (state: TaskState): object | null => {
  if (state.kind !== 'open') return null
  const content = state.spec.sections[0]?.content as { readonly late_result?: object | null } | undefined
  return content?.late_result ?? null
}

const play = async (cluster: Cluster, rounds: number, judge: (scene: Scene) => Promise<void>): Promise<void> => {
  const { url, drop } = await freshSchema(cluster.url)
  const scene = new Scene(url)
  try {
    const atOnce = Math.min(MOST_AT_ONCE, rounds)
    await scene.open(atOnce)
    for (let done = 0; done < rounds; done += atOnce) await scene.round(Math.min(atOnce, rounds - done), done)
    await judge(scene)
  } finally {
    await scene.close()
    await drop()
  }
}

/** The warning is missing, although the frozen worker may still act. */
const control = async (cluster: Cluster, rounds: number): Promise<Control> => {
  const { mayStillAct } = uncertainRules
  uncertainRules.mayStillAct = () => false
  let lost = 0
  let payments = 0
  try {
    await play(cluster, rounds, async (scene) => {
      lost = (await scene.judge()).wrong.length
      payments = scene.payments.size
    })
  } finally {
    uncertainRules.mayStillAct = mayStillAct
  }
  return { name: 'run again without a warning', must: 'lose', lost_in: lost, of: payments }
}

const perform = async (cluster: Cluster, options: FrozenOptions): Promise<StageReport> => {
  const findings = new Findings()
  await play(cluster, options.rounds, async (scene) => {
    const { wrong, warned } = await scene.judge()
    const { counts, payments } = scene
    for (const sentence of wrong) findings.violation(sentence)
    if (counts.second > 0) findings.violation(`${counts.second} questions took two answers`)
    findings.operations = counts.asked
    findings.checks = payments.size
    findings.fault('freeze', counts.frozen)
    findings.fault('answer', counts.asked)
    findings.fault('late answer seen', counts.late)
    findings.fault('warned run again', counts.warned)
    findings.fault('doubled after the warning', warned)
    findings.note(
      `${counts.frozen} freezes, ${payments.size} payments, ${counts.asked} answers (${counts.runAgain} run again, ${counts.warned} of them after the warning; ${counts.happened} it happened): ${wrong.length} doubled without a warning, ${warned} doubled after one, all by code that does not ask stillMine`,
    )
  })
  findings.version('postgres', await postgresVersion(cluster.url))
  return findings.report(
    NAME,
    ['freeze', 'answer', 'warned run again'],
    [await control(cluster, options.controlRounds)],
  )
}

export const runFrozen = (options: FrozenOptions): Promise<StageReport> =>
  onPostgres(NAME, (cluster) => perform(cluster, options))
