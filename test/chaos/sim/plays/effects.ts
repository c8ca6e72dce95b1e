/** Plays whose steps act under other promises: at most once, in the step's own transaction, in a session's memory. */
import { fn } from '#executors/workflow/function.ts'
import { FinalError, isStepFailure } from '#model/run/step-failure.ts'
import type { StepContext } from '#ports/step-port.ts'
import { act, type Ending, type Errand, type Play, perform } from '#test/chaos/sim/play.ts'

const CHARGED = 'charged'
const REFUSED = 'refused'
/** People are asked after the timeout and a lease: short, so that a schedule gets there. */
const TIMEOUT_MS = 1_000
const SLOW_MS = 4_000

/** The result of a once step, by a person's decision or by the step's own end. */
const outcomeOf = ({ facts }: Ending, step: string): string => {
  const last = facts.findLast(
    (fact) =>
      'step' in fact && fact.step === step && ['step.completed', 'step.failed', 'step.resolved'].includes(fact.type),
  )
  if (last?.type === 'step.completed') return CHARGED
  return last?.type === 'step.resolved' && last.verdict === 'happened' ? CHARGED : REFUSED
}

/** `kind` 0: succeeds. 1: is slow, and ignores its signal. 2: fails definitely. 3: fails with unknown outcome. */
const charge = async (scene: Parameters<Play['functions']>[0], kind: number): Promise<string> => {
  await scene.world.delay(kind % 4 === 1 ? SLOW_MS : 30)
  if (kind % 4 === 2) throw new FinalError('declined')
  if (kind % 4 === 3) throw new Error('the line broke')
  return CHARGED
}

export const pay: Play = {
  name: 'pay',
  functions: (scene, edition) => [
    fn<Errand>('pay', { trigger: 'go.pay' }, async (context) => {
      const { step, run, input } = context
      await perform(scene, context, 'quote', 1)
      if (edition === 2) await perform(scene, context, 'extra', 0)
      const body = async ({
        effectKey,
        attempt,
      }: {
        readonly effectKey: string
        readonly attempt: number
      }): Promise<string> => {
        const over = act(scene, run.id, { step: 'charge', effect: 'once', effectKey, attempt })
        return charge(scene, input.kind).finally(over)
      }
      const outcome = await step
        .run('charge', body, { effect: 'once', timeout: TIMEOUT_MS })
        .catch((error: unknown) => {
          if (!isStepFailure(error)) throw error
          return REFUSED
        })
      return [outcome, await perform(scene, context, 'receipt', 1)]
    }),
  ],
  cues: () => [],
  output: (ending) => [outcomeOf(ending, 'charge'), 1],
}

/** A function that is one `once` step as a whole. */
export const strike: Play = {
  name: 'strike',
  functions: (scene) => [
    fn<Errand>('strike', { trigger: 'go.strike', effect: 'once', timeout: TIMEOUT_MS }, async ({ run, effectKey }) => {
      const over = act(scene, run.id, { step: 'main', effect: 'once', effectKey, attempt: run.attempt })
      return charge(scene, 0).finally(over)
    }),
  ],
  cues: () => [],
  output: () => CHARGED,
  // A person who aborts the only step fails the run.
  mayEnd: (ending) => ending.status === 'failed' && outcomeOf(ending, 'main') === REFUSED,
}

/** Its first attempt writes and emits entries and then fails: none of them may ever be visible. */
export const book: Play = {
  name: 'book',
  functions: (scene, edition) => [
    fn<Errand>('book', { trigger: 'go.book' }, async (context) => {
      const { step, run, input } = context
      if (edition === 2) await perform(scene, context, 'extra', 0)
      const body = (intent: StepContext): number => {
        const { attempt, effectKey } = intent
        act(scene, run.id, { step: 'entry', effect: 'transactional', effectKey, attempt })
        const isGhost = attempt === 1 && input.kind % 2 === 1
        intent.write(isGhost ? 'ghost' : 'account', run.id, input.id)
        intent.emit(isGhost ? 'ghost.seen' : 'entry.booked', { ...input })
        if (isGhost) throw new Error('ghosts only')
        return input.id
      }
      return step.run('entry', body, { effect: 'transactional', retry: { baseMs: 100 } })
    }),
    fn<Errand>('audit', { trigger: 'entry.booked' }, async (context) =>
      perform(scene, context, 'audit', context.input.id),
    ),
  ],
  cues: () => [],
  output: ({ errand: { id } }) => id,
}

const NOTES_PER_STEP = 8

/** So many that two runs in one session make a checkpoint due. */
export const notesOf = (step: string, id: number): readonly string[] =>
  Array.from({ length: NOTES_PER_STEP }, (_, i) => `${step}-${id}-${i}`)

export const note: Play = {
  name: 'note',
  inSession: true,
  functions: (scene) => [
    fn<Errand>('note', { trigger: 'go.note' }, async (context) => {
      const { step, run, input } = context
      const jot = (name: string) =>
        step.run(name, ({ remember, attempt, effectKey }) => {
          act(scene, run.id, { step: name, effect: 'idempotent', effectKey, attempt })
          for (const key of notesOf(name, input.id)) remember(key, input.id)
          return input.id
        })
      await Promise.all([jot('left'), jot('right')])
      return Promise.all(['left', 'right'].map((name) => context.recall(notesOf(name, input.id)[0] as string)))
    }),
  ],
  cues: () => [],
  output: ({ errand: { id } }) => [id, id],
}

export const spentBy = (id: number): string => `spent-${id}`

/** A once step that is remembered in a session that others write, too. */
export const purse: Play = {
  name: 'purse',
  inSession: true,
  functions: (scene) => [
    fn<Errand>('purse', { trigger: 'go.purse' }, async ({ step, run, input }) =>
      step.run(
        'spend',
        async ({ remember, attempt, effectKey }) => {
          const over = act(scene, run.id, { step: 'spend', effect: 'once', effectKey, attempt })
          remember(spentBy(input.id), input.id)
          return charge(scene, 0).finally(over)
        },
        { effect: 'once', timeout: TIMEOUT_MS },
      ),
    ),
  ],
  cues: () => [],
  output: () => CHARGED,
  mayEnd: (ending) => ending.status === 'failed' && outcomeOf(ending, 'spend') === REFUSED,
}
