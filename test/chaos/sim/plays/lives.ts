/** Plays whose runs are sure to fail and are retried: behind a gate with keys, with children, with instants by which they must begin and end. */
import { fn } from '#executors/workflow/function.ts'
import { FinalError } from '#model/run/step-failure.ts'
import { act, type Context, type Ending, type Errand, type Play, perform, type Scene } from '#test/chaos/sim/play.ts'

const LONG_MS = 30_000
const ONCE_MS = 1_000
const KEYS = 2

const none = (): readonly [] => []

/** Fails this many times, in whichever lives of its run. */
const flawed = (scene: Scene, { run, step }: Context, flaws: number): Promise<unknown> =>
  step.run('work', ({ attempt, effectKey }) => {
    act(scene, run.id, { step: 'work', effect: 'idempotent', effectKey, attempt })
    const tries = scene.world.executions.filter((one) => one.run === run.id && one.step === 'work').length
    if (tries <= flaws) throw new FinalError('a flaw')
    return tries
  })

const hasFailed = ({ status, facts }: Ending): boolean =>
  status === 'failed' &&
  facts.some((fact) => fact.type === 'step.failed' || (fact.type === 'step.resolved' && fact.verdict === 'abort'))

/** One live or successful run per key, whichever run is retried. */
export const again: Play = {
  name: 'again',
  functions: (scene) => [
    fn<Errand>('again', { trigger: 'go.again', idempotency: { key: `payload.kind % ${KEYS}` } }, async (context) => {
      await perform(scene, context, 'note', 0)
      await flawed(scene, context, context.input.kind % 3)
      await context.step.sleep('rest', 150)
      return context.input.id
    }),
  ],
  cues: ({ id, kind }) => [0, 1].map((i) => ({ type: 'go.again', data: { id: 100 * id + i, kind: kind + 2 * i } })),
  coordinator: { kind: 'gate', keyOf: ({ kind }) => String(kind % KEYS), once: true },
  retries: 4,
  output: ({ errand: { id } }) => id,
  mayEnd: hasFailed,
}

/** One child performs an effect once and fails; the other sleeps for long. Neither outlives a parent that has failed. */
export const brood: Play = {
  name: 'brood',
  functions: (scene) => [
    fn<Errand>('brood', { trigger: 'go.brood' }, async ({ step, input: { id, kind } }) =>
      Promise.all([
        step.invoke('calm', 'kid', { id, kind: 0 }),
        step.invoke('wild', 'kid', { id: id + 1, kind: 1 + (kind % 2) }),
      ]),
    ),
    fn<Errand>('kid', {}, async (context) => {
      const { run, step, input } = context
      await step.run(
        'gift',
        async ({ attempt, effectKey }) => {
          const over = act(scene, run.id, { step: 'gift', effect: 'once', effectKey, attempt })
          return scene.world.delay(30).finally(over)
        },
        { effect: 'once', timeout: ONCE_MS },
      )
      await flawed(scene, context, input.kind)
      if (input.kind === 0) await step.sleep('sleep', LONG_MS)
      return perform(scene, context, 'last', input.id)
    }),
  ],
  cues: none,
  retries: 3,
  output: ({ errand: { id } }) => [id, id + 1],
  mayEnd: ({ status, facts }) =>
    status === 'failed' && facts.some((fact) => fact.type === 'child.ended' && fact.end.kind === 'failed'),
}

/** The children of a brood. */
export const kid: Play = {
  name: 'kid',
  functions: none,
  cues: none,
  output: ({ errand: { id } }) => id,
  mayEnd: hasFailed,
}

/** Its first step takes nearly as long as its start may take. */
export const punctual: Play = {
  name: 'punctual',
  functions: (scene) => [
    fn<Errand>('punctual', { trigger: 'go.punctual', deadline: { start: 500, finish: 6_000 } }, async (context) => {
      await perform(scene, context, 'first', 0, { delayMs: 450 })
      await flawed(scene, context, context.input.kind % 3)
      await context.step.sleep('rest', 700)
      return context.input.id
    }),
  ],
  cues: none,
  retries: 3,
  output: ({ errand: { id } }) => id,
  mayEnd: (ending) =>
    ending.status === 'expired' ||
    hasFailed(ending) ||
    ending.facts.some((fact) => fact.type === 'run.failed' && fact.error.code === 'RUN_DEADLINE'),
}
