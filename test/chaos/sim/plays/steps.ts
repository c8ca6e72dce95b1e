/** Plays of plain steps: one after another, in parallel, in a loop, failing, sleeping, too large for a fact. */
import { fn } from '#executors/workflow/function.ts'
import { FinalError, isStepFailure } from '#model/run/step-failure.ts'
import { act, type Context, type Errand, inOrder, type Play, perform } from '#test/chaos/sim/play.ts'

const RETRY = { baseMs: 150, factor: 1, maxMs: 150 }
const LARGE = 'x'.repeat(70_000)
const none = (): readonly [] => []

export const sequence: Play = {
  name: 'sequence',
  functions: (scene, edition) => [
    fn<Errand>('sequence', { trigger: 'go.sequence' }, async (context) => {
      const { id } = context.input
      const found: Record<string, number> = {}
      const step = (name: string, value: number) => async (): Promise<void> => {
        found[name] = await perform(scene, context, name, value, name === 'b' ? { delayMs: 20 } : {})
      }
      await inOrder(edition, [step('a', id + 1), step('b', id * 2), step('c', id - 1)], () =>
        perform(scene, context, 'extra', 0),
      )
      return { a: found['a'] ?? null, b: found['b'] ?? null, c: found['c'] ?? null }
    }),
  ],
  cues: none,
  output: ({ errand: { id } }) => ({ a: id + 1, b: id * 2, c: id - 1 }),
}

export const loop: Play = {
  name: 'loop',
  functions: (scene, edition) => [
    fn<Errand>('loop', { trigger: 'go.loop' }, async (context) => {
      const results: number[] = []
      const round = (i: number) => async (): Promise<void> => {
        results[i] = await perform(scene, context, 'round', context.input.id + i, { key: `${i}` })
      }
      await inOrder(edition, [round(0), round(1), round(2)], async () => {})
      return results
    }),
  ],
  cues: none,
  output: ({ errand: { id } }) => [id, id + 1, id + 2],
}

/** A retry becomes due while another step is still active. */
export const parallel: Play = {
  name: 'parallel',
  functions: (scene) => [
    fn<Errand>('parallel', { trigger: 'go.parallel' }, async (context) => {
      const { id, kind } = context.input
      return Promise.all([
        perform(scene, context, 'slow', id, { delayMs: 100 + 100 * (kind % 4) }),
        perform(scene, context, 'flaky', id + 1, { failures: kind % 3, retry: RETRY, delayMs: 10 }),
        perform(scene, context, 'quick', id + 2),
      ])
    }),
  ],
  cues: none,
  output: ({ errand: { id } }) => [id, id + 1, id + 2],
}

export const nap: Play = {
  name: 'nap',
  functions: (scene) => [
    fn<Errand>('nap', { trigger: 'go.nap' }, async (context) => {
      const { id, kind } = context.input
      const before = await perform(scene, context, 'before', id)
      await Promise.all([
        context.step.sleep('short', 200),
        context.step.sleep('long', 500),
        perform(scene, context, 'awake', 0, { delayMs: 100 * (kind % 4) }),
      ])
      return [before, await perform(scene, context, 'after', id + 1)]
    }),
  ],
  cues: none,
  output: ({ errand: { id } }) => [id, id + 1],
}

const orElse = async (work: Promise<unknown>, instead: string): Promise<unknown> => {
  try {
    return await work
  } catch (error) {
    if (!isStepFailure(error)) throw error
    return instead
  }
}

const giveUp = (scene: Parameters<Play['functions']>[0], context: Context): Promise<unknown> =>
  context.step.run('final', ({ attempt, effectKey }) => {
    act(scene, context.run.id, { step: 'final', effect: 'idempotent', effectKey, attempt })
    throw new FinalError('no use')
  })

export const flaky: Play = {
  name: 'flaky',
  functions: (scene) => [
    fn<Errand>('flaky', { trigger: 'go.flaky' }, async (context) => {
      const { id } = context.input
      const third = await perform(scene, context, 'third', id, { failures: 2, retry: RETRY })
      const doomed = await orElse(
        perform(scene, context, 'doomed', id, { failures: 9, retry: { ...RETRY, maxAttempts: 2 } }),
        'instead',
      )
      return [third, doomed, await orElse(giveUp(scene, context), 'final')]
    }),
  ],
  cues: none,
  output: ({ errand: { id } }) => [id, 'instead', 'final'],
}

/** A step that exceeds its timeout: aborted, tried again, given up; its final result comes too late. */
export const tardy: Play = {
  name: 'tardy',
  functions: (scene) => [
    fn<Errand>('tardy', { trigger: 'go.tardy' }, async (context) => {
      const { id } = context.input
      const retry = { ...RETRY, maxAttempts: 2 }
      const slow = await orElse(perform(scene, context, 'slow', id, { delayMs: 400, timeout: 100, retry }), 'too slow')
      return [slow, await perform(scene, context, 'after', id)]
    }),
  ],
  cues: none,
  // A worker that was asleep may find the step done and overdue at the same time.
  output: ({ errand: { id }, facts }) => {
    const isDone = facts.some((fact) => fact.type === 'step.completed' && fact.step === 'slow')
    return [isDone ? id : 'too slow', id]
  },
}

/** The handler itself fails once, while one of its steps is still active. */
export const hasty: Play = {
  name: 'hasty',
  functions: (scene) => [
    fn<Errand>('hasty', { trigger: 'go.hasty', retry: RETRY }, async (context) => {
      const { id, kind } = context.input
      const slow = perform(scene, context, 'slow', id, { delayMs: 100 + 100 * (kind % 4) })
      if (context.run.attempt === 1) throw new Error('the handler fails once')
      return [await slow, await perform(scene, context, 'after', id + 1)]
    }),
  ],
  cues: none,
  output: ({ errand: { id } }) => [id, id + 1],
}

export const large: Play = {
  name: 'large',
  functions: (scene) => [
    fn<Errand>('large', { trigger: 'go.large' }, async (context) => {
      const text = await perform(scene, context, 'write', LARGE)
      await context.step.sleep('rest', 100)
      return perform(scene, context, 'measure', text.length)
    }),
  ],
  cues: none,
  output: () => LARGE.length,
}

/** Two kinds of deadline: one that a run exceeds while it waits forever, one for its start. */
export const overdue: Play = {
  name: 'overdue',
  functions: (scene) => [
    fn<Errand>('overdue', { trigger: 'go.overdue', deadline: { finish: 800 } }, async (context) => {
      await perform(scene, context, 'begin', 1)
      await context.step.waitForEvent('for-ever', { event: 'never.comes' })
      return 'late'
    }),
  ],
  cues: none,
  output: () => 'never',
  mayEnd: ({ status, facts }) =>
    status === 'failed' && facts.some((fact) => fact.type === 'run.failed' && fact.error.code === 'RUN_DEADLINE'),
}

export const prompt: Play = {
  name: 'prompt',
  functions: (scene) => [
    fn<Errand>('prompt', { trigger: 'go.prompt', deadline: { start: 500 } }, async (context) => {
      const first = await perform(scene, context, 'first', context.input.id)
      await context.step.sleep('rest', 600)
      return first
    }),
  ],
  cues: none,
  output: ({ errand: { id } }) => id,
  mayEnd: ({ status, facts }) => status === 'expired' && !facts.some((fact) => 'step' in fact),
}

/** An empty run: tests whether a worker at rest has a free slot. */
export const probe: Play = {
  name: 'probe',
  functions: () => [fn<Errand>('probe', {}, ({ input }) => input.id)],
  cues: none,
  output: ({ errand: { id } }) => id,
}
