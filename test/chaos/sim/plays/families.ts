/** Plays of several runs: children, children that wait, events that start others. */
import { fn } from '#executors/workflow/function.ts'
import { FinalError, isStepFailure } from '#model/run/step-failure.ts'
import { type Errand, type Play, perform } from '#test/chaos/sim/play.ts'

export const family: Play = {
  name: 'family',
  functions: (scene, edition) => [
    fn<Errand>('family', { trigger: 'go.family' }, async (context) => {
      const { step, input } = context
      if (edition === 2) await perform(scene, context, 'extra', 0)
      const children = await Promise.all([
        step.invoke('first', 'child', { id: input.id, kind: 1 }),
        step.invoke('second', 'child', { id: input.id + 1, kind: 2 }),
        step.invoke('bad', 'child', { id: input.id, kind: 0 }).catch((error: unknown) => {
          if (!isStepFailure(error)) throw error
          return 'failed'
        }),
      ])
      return [...children, await perform(scene, context, 'after', 1)]
    }),
    fn<Errand>('child', {}, async (context) => {
      const { id, kind } = context.input
      const grown = await perform(scene, context, 'grow', id * 10, { delayMs: 20 * kind })
      if (kind === 0) throw new FinalError('a bad child')
      await context.step.sleep('nap', 50 * kind)
      return grown
    }),
  ],
  cues: () => [],
  output: ({ errand: { id } }) => [id * 10, (id + 1) * 10, 'failed', 1],
}

/** Children that wait for an event from outside: what a cancel must reach. */
export const custody: Play = {
  name: 'custody',
  functions: (scene) => [
    fn<Errand>('custody', { trigger: 'go.custody' }, async (context) => {
      const { step, input } = context
      const [free] = await Promise.all([
        step.invoke('ward', 'ward', input),
        step.invoke('guard', 'ward', input),
        perform(scene, context, 'watch', 0, { delayMs: 50 * (input.kind % 4) }),
      ])
      return free
    }),
    fn<Errand>('ward', {}, async (context) => {
      await perform(scene, context, 'enter', 0)
      const gate = await context.step.waitForEvent('gate', { event: 'gate.opened', match: 'payload.id' })
      return gate.status
    }),
  ],
  cues: ({ id }) => [{ type: 'gate.opened', data: { id } }],
  output: () => 'received',
}

/** Events from a step and from the end of the function, with a filter that blocks some. */
export const announce: Play = {
  name: 'announce',
  functions: (scene, edition) => [
    fn<Errand>('announce', { trigger: 'go.announce' }, async (context) => {
      const { step, input } = context
      if (edition === 2) await perform(scene, context, 'extra', 0)
      const told = await step.emit('tell', [
        { type: 'was.told', data: { ...input, n: 1 } },
        { type: 'was.told', data: { ...input, n: 2 } },
      ])
      context.emit('was.said', input)
      return told.length
    }),
    fn<Errand>('hear', { trigger: { event: 'was.told', filter: 'payload.n == 1' } }, async (context) =>
      perform(scene, context, 'hear', context.input.id),
    ),
    fn<Errand>('echo', { triggers: ['was.told', 'was.said'] }, async (context) =>
      perform(scene, context, 'echo', context.input.id),
    ),
  ],
  cues: () => [],
  output: () => 2,
}
