/**
 * The operator as a program: answers what happened to an uncertain step, and retries a run that was quarantined
 * (it lost its worker five times in a row, which is this stage's doing) or failed because its child was.
 *
 * Asks the world before it answers, as a careful person would. Follows the events, and also searches for what was reported to a process
 * that is dead. Never answers for a step that is not uncertain.
 */
import type { Trihand } from '#compose/assemble.ts'
import type { RunNotice } from '#engine/core/publish.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import type { RunFact } from '#model/run/fact.ts'
import { run as machine } from '#model/run/run.ts'
import type { RunStatus } from '#model/run/status.ts'
import { insist } from '#test/support/insistent.ts'
import { answerStep } from '#test/support/step-answer.ts'

const NAME = 'operator'
const PAGE = 500
const MANY_FACTS = 10_000

export class Operator {
  readonly #trihand: Trihand
  readonly #world: string
  #isLooking = false

  constructor(trihand: Trihand, world: string) {
    this.#trihand = trihand
    this.#world = world
  }

  notice({ run, status, facts }: RunNotice): void {
    for (const fact of facts) if (fact.type === 'step.uncertain') void this.#decide(run, fact.step)
    if (status === 'quarantined' || facts.some(isFailedByQuarantine)) void this.#retry(run)
  }

  /** Called again and again: a run that is active now may wait for an answer a moment later. */
  async lookAround(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      await this.#answerAll()
    } finally {
      this.#isLooking = false
    }
  }

  async #answerAll(): Promise<void> {
    for (const { id } of await this.#runsIn('quarantined')) await this.#retry(id)
    for (const { id } of await this.#runsIn('failed')) {
      const facts = await this.#factsOf(id)
      if (facts.some(isFailedByQuarantine)) await this.#retry(id)
    }
    for (const { id } of await this.#runsIn('waiting')) {
      for (const step of doubtsIn(await this.#factsOf(id))) await this.#decide(id, step)
    }
  }

  #runsIn(status: RunStatus): Promise<readonly { readonly id: RunId }[]> {
    const query = { tenant: LOCAL_TENANT, status, handler: null, before: null, limit: PAGE }
    return insist('runs', () => this.#trihand.reader.runs(query), ignore)
  }

  async #factsOf(run: RunId): Promise<readonly RunFact[]> {
    const page = { after: 0, limit: MANY_FACTS }
    const facts = await insist('facts', () => this.#trihand.reader.facts(LOCAL_TENANT, run, page), ignore)
    return facts.map(readRunFact)
  }

  async #decide(run: RunId, step: string): Promise<void> {
    const response = await fetch(`${this.#world}/happened?${new URLSearchParams({ run, step })}`)
    const happened = (await response.json()) === true
    const word = happened
      ? ({ verdict: 'happened', by: NAME, result: `${step} done` } as const)
      : ({ verdict: 'run_again', by: NAME } as const)
    await this.#say(async () => void (await answerStep(this.#trihand, run, step, word)))
  }

  #retry(run: RunId): Promise<void> {
    return this.#say(async () => void (await this.#trihand.retry(run, { by: NAME })))
  }

  /** The operator of another process may have answered first, or an uncertain answer had arrived: then nothing is left to answer. */
  async #say(answer: () => Promise<void>): Promise<void> {
    try {
      await insist('answer', answer, ignore)
    } catch (error) {
      if (!(error instanceof TrihandError) || error.retryable) throw error
    }
  }
}

const ignore = (): void => {}

const isFailedByQuarantine = (fact: RunFact): boolean =>
  fact.type === 'run.failed' && fact.error.code === 'RUN_QUARANTINED'

const doubtsIn = (facts: readonly RunFact[]): readonly string[] => {
  const state = fold(machine, facts)
  if (state.kind !== 'live') return []
  return state.open.entries().flatMap(([step, open]) => (open.kind === 'uncertain' ? [step] : []))
}
