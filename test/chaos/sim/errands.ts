/**
 * What the outside asks of the system in one schedule: two to six errands, each started once, its events sent, some cancelled,
 * retried or sent twice.
 *
 * Owns the list of actions still to do, and the help that runs at rest need. Looks at the store only as a person looks at a page.
 */
import type { RunId, SessionId } from '#model/kernel/ids.ts'
import type { EndedRun } from '#model/run/fact.ts'
import { carefully } from '#test/support/step-answer.ts'
import type { Cast } from './cast.ts'
import type { Client, Sending } from './client.ts'
import { askOfCoordinator, resumeAll } from './coordinator-errands.ts'
import type { Faults } from './faults.ts'
import { isPaused, type Look, type LookedRun, type LookedTask } from './look.ts'
import type { Cue, Errand, Play } from './play.ts'
import type { SimWorker } from './sim-worker.ts'
import { type Bill, playOf } from './system.ts'
import type { Tape } from './tape.ts'

export interface ErrandDeps {
  readonly tape: Tape
  readonly faults: Faults
  readonly client: Client
  readonly cast: Cast
  readonly look: Look
}

type Action = (worker: SimWorker) => void

const VERDICTS = ['happened', 'run_again', 'abort'] as const
const MAX_TRIES = 30
/** How often a person looks for a question that is not asked yet. */
const MAX_LOOKS = 6

export interface Planned {
  readonly play: Play
  readonly errand: Errand
}

/** Two to six errands of any play. */
export const drawErrands = (tape: Tape, { plays }: Bill): readonly Planned[] =>
  Array.from({ length: 2 + tape.below(5) }, (_, i) => ({
    play: tape.pick(plays),
    errand: { id: i + 1, kind: tape.below(12) },
  }))

export class Errands {
  readonly #deps: ErrandDeps
  readonly #planned: readonly Planned[]
  /** Errands whose start cannot be repeated, because it is not known whether it was done. */
  readonly #isGivenUp = new Set<number>()
  #todo: Action[] = []
  #session: SessionId | null = null
  #sent = 0
  #tries = 0

  constructor(deps: ErrandDeps, planned: readonly Planned[]) {
    this.#deps = deps
    this.#planned = planned
    for (const { play, errand } of planned) this.#plan(play, errand)
  }

  get isPending(): boolean {
    return this.#todo.length > 0
  }

  /** One of the actions, if any worker can be called. */
  doOne(): void {
    const { cast, tape } = this.#deps
    const { serving } = cast
    const index = tape.below(this.#todo.length)
    const [action] = serving.length === 0 ? [] : this.#todo.splice(index, 1)
    if (action !== undefined) action(tape.pick(serving))
    // No worker will ever serve, or an errand is refused forever: the checks report it.
    else if (tape.isOver && ++this.#tries > MAX_TRIES) this.#todo = []
  }

  /** Errands that never became a run, although the client repeated them until it was answered. */
  unheard(): readonly string[] {
    return this.#planned
      .filter(
        ({ play, errand }) =>
          play.coordinator === undefined && !this.#isGivenUp.has(errand.id) && this.#runsOf(play, errand).length === 0,
      )
      .map(({ play, errand }) => `V1: errand ${errand.id} (${play.name}) never became a run`)
  }

  /** Gives runs at rest what they wait for. False if none needs anything. */
  help(round: number): boolean {
    const { look, cast } = this.#deps
    const worker = cast.serving[0]
    if (look.coordinators().some(isPaused)) return this.#resumeAll(worker)
    if (worker === undefined) return false
    const asked = look.runs().map((run) => this.#helpOne(run, worker, round))
    return asked.includes(true)
  }

  /** The last worker may have stopped after a pause. */
  #resumeAll(worker: SimWorker | undefined): boolean {
    const { look, cast, client } = this.#deps
    if (worker === undefined) cast.heal()
    else resumeAll(client, look, worker)
    return true
  }

  #plan(play: Play, errand: Errand): void {
    const { tape } = this.#deps
    if (play.coordinator?.kind !== 'schedule') this.#start(play, errand)
    for (const cue of play.cues(errand)) this.#later(() => this.#send(cue))
    if (tape.odds(200))
      this.#later((worker) => this.#cancel(worker, play, errand, play.coordinator === undefined && tape.odds(500)))
    if (play.coordinator !== undefined) {
      const later = (action: Action): void => this.#later(action)
      askOfCoordinator({ tape, client: this.#deps.client, later }, play, errand)
    }
    for (let i = 0; i < (play.retries ?? 0); i++) this.#later((worker) => this.#retryFailed(worker, play))
    if (play.name === 'review') for (let i = 0; i < 3; i++) this.#later((worker) => this.#person(worker))
    if (play.name === 'pay' || play.name === 'strike') this.#later((worker) => this.#attend(worker))
  }

  #later(action: Action): void {
    this.#todo.push(action)
  }

  #start(play: Play, errand: Errand): void {
    const { tape } = this.#deps
    if (play.inSession === true) return this.#later((worker) => this.#startInSession(worker, play, errand))
    if (play.coordinator === undefined && tape.below(4) === 3)
      return this.#later((worker) => this.#startRun(worker, play, errand, null))
    this.#later(() => this.#send({ type: `go.${play.name}`, data: { ...errand } }))
  }

  #startInSession(worker: SimWorker, play: Play, errand: Errand): void {
    if (this.#session !== null) return this.#startRun(worker, play, errand, this.#session)
    this.#deps.client.createSession(worker, (told) => {
      if (told.kind === 'done') this.#session = told.value
      this.#later((next) => this.#startInSession(next, play, errand))
    })
  }

  /** Has no key for a repeat, so only what is known not to be done is tried again. */
  #startRun(worker: SimWorker, play: Play, errand: Errand, session: SessionId | null): void {
    this.#deps.client.startRun(worker, play.name, { ...errand }, session, (told) => {
      if (told.kind === 'not_done') this.#later((next) => this.#startRun(next, play, errand, session))
      if (told.kind === 'unknown') this.#isGivenUp.add(errand.id)
    })
  }

  #send(cue: Cue): void {
    const { tape } = this.#deps
    const sending: Sending = { id: `event-${++this.#sent}`, ...cue }
    const once = (worker: SimWorker): void =>
      this.#deps.client.send(worker, sending, (told) => {
        if (told.kind === 'unknown') this.#later(once)
        // Known not to exist, so a client may send it as a new event.
        if (told.kind === 'not_done') this.#later(() => this.#send(cue))
      })
    const again = (worker: SimWorker): void => {
      if (!this.#deps.client.isDenied(sending.id)) once(worker)
    }
    this.#now(once)
    if (tape.odds(100)) this.#later(again)
  }

  #now(action: Action): void {
    const { cast, tape } = this.#deps
    const { serving } = cast
    if (serving.length === 0) this.#later(action)
    else action(tape.pick(serving))
  }

  #runsOf(play: Play, errand: Errand): readonly LookedRun[] {
    const { look } = this.#deps
    return look.runs().filter((run) => run.stream.handler === play.name && look.errand(run).id === errand.id)
  }

  #cancel(worker: SimWorker, play: Play, errand: Errand, retries: boolean): void {
    const { client, faults } = this.#deps
    const [run] = this.#runsOf(play, errand)
    if (run === undefined) return
    faults.count('cancel')
    client.cancel(worker, run.id)
    if (retries) this.#later((next) => this.#retry(next, run.id))
  }

  /** A person finds a run without success, and wants it to continue. */
  #retryFailed(worker: SimWorker, { name }: Play): void {
    const { tape, look } = this.#deps
    const failed = look.runs().filter(({ stream, state }) => stream.handler === name && hasGoneWrong(state))
    if (failed.length > 0) this.#retry(worker, tape.pick(failed).id)
  }

  #retry(worker: SimWorker, run: RunId): void {
    this.#deps.faults.count('retry')
    this.#deps.client.retry(worker, run)
  }

  /** A person opens the inbox and acts on one of the tasks; now and then two do at once. */
  #person(worker: SimWorker): void {
    const { tape, look, client, cast } = this.#deps
    const open = look.tasks().filter(({ state }) => state.kind === 'open')
    if (open.length === 0) return
    const task = tape.pick(open)
    const roll = tape.below(6)
    actOn(client, worker, task, roll)
    const other = tape.odds(400) ? cast.serving.at(-1) : undefined
    if (other !== undefined) actOn(client, other, task, roll + 1)
  }

  /** Answers what happened to the first step that is uncertain. */
  #attend(worker: SimWorker, looks = MAX_LOOKS): void {
    for (const run of this.#deps.look.runs())
      if (this.#resolve(worker, run, this.#deps.tape.below(VERDICTS.length))) return
    if (looks > 0) this.#later((next) => this.#attend(next, looks - 1))
  }

  #resolve(worker: SimWorker, { id, state }: LookedRun, verdict: number): boolean {
    if (state.kind !== 'live') return false
    const doubted = state.open.entries().find(([, open]) => open.kind === 'uncertain' && open.task !== null)?.[0]
    if (doubted === undefined) return false
    this.#deps.faults.count('resolve')
    const word = VERDICTS[verdict % VERDICTS.length] ?? 'happened'
    this.#deps.client.resolve(worker, id, doubted, word)
    return true
  }

  /** Approves what the run has asked. */
  #answer(worker: SimWorker, { state }: LookedRun): boolean {
    const { look, client } = this.#deps
    const asked = state.kind === 'live' ? state.tasks : []
    const task = look.tasks().find(({ id, state: one }) => asked.includes(id) && one.kind === 'open')
    if (task === undefined) return false
    actOn(client, worker, task, 0)
    return true
  }

  #helpOne(run: LookedRun, worker: SimWorker, round: number): boolean {
    const { state, stream } = run
    // A child may have been quarantined, or cancelled before its parent was: an operator retries such a parent.
    const isBroken = state.kind === 'ended' && (state.status === 'quarantined' || hasLostChild(state))
    if (isBroken) {
      this.#retry(worker, run.id)
      return true
    }
    if (state.kind !== 'live') return false
    // A verdict that fails again every time would never end.
    if (this.#resolve(worker, run, round === 1 ? 1 : round % 2 === 0 ? 0 : 2)) return true
    if (this.#answer(worker, run)) return true
    const play = playOf(stream.handler) ?? (stream.handler === 'ward' ? playOf('custody') : undefined)
    if (!state.open.some((open) => open.kind === 'waiting')) return true
    const cues = play?.cues(this.#deps.look.errand(run)) ?? []
    // A retry has lifted the deadline of a run that waits for an event that never comes.
    if (cues.length === 0) this.#deps.client.cancel(worker, run.id)
    for (const cue of cues) this.#send(cue)
    return true
  }
}

const PLAIN_ACTIONS = ['approve', 'reject', 'reassign'] as const
const DOUBT_ACTIONS = ['it_happened', 'run_again', 'abort'] as const

/** An assignee performs one of the actions that the task offers. */
const actOn = (client: Client, worker: SimWorker, { id, state }: LookedTask, roll: number): void => {
  if (state.kind !== 'open') return
  const { users } = state.deciders
  const by = { id: users[0] ?? 'ana', kind: 'user', groups: ['sim', 'operators'] } as const
  const isDoubt = state.spec.origin === 'uncertain'
  const actions = isDoubt ? DOUBT_ACTIONS : PLAIN_ACTIONS
  const action = actions[roll % actions.length] ?? actions[0]
  const reason = action === 'reject' ? 'no' : null
  const fields = action === 'it_happened' ? { result: 'charged' } : {}
  const to = action === 'reassign' ? [{ kind: 'user', id: 'bo' } as const] : []
  client.decide(worker, id, by, {
    ...{ action, reason, fields, ...carefully(state, action) },
    ...(to.length > 0 && { to }),
  })
}

const hasGoneWrong = (state: LookedRun['state']): boolean =>
  state.kind === 'ended' && state.status !== 'success' && state.status !== 'partial'

const hasLostChild = ({ status, error }: EndedRun): boolean =>
  status === 'failed' && (error?.code === 'RUN_CANCELLED' || error?.code === 'RUN_QUARANTINED')
