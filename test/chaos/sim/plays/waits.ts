/** Plays that wait for events: any, all, with a condition, with a timeout, and for events that came before the wait. */
import { fn } from '#executors/workflow/function.ts'
import type { WaitResult } from '#executors/workflow/step-api.ts'
import type { Json } from '#model/kernel/json.ts'
import { type Ending, type Errand, type Play, perform } from '#test/chaos/sim/play.ts'

const numberOf = (wait: WaitResult): Json => (wait.status === 'received' ? numberIn(wait.event.data) : wait.status)
const numberIn = (data: Json): Json => (data as { readonly n?: Json }).n ?? null

/** Since the wait was last opened: a retry of the run opens it anew. */
const sinceOpened = ({ facts }: Ending, step: string): Ending['facts'] =>
  facts.slice(facts.findLastIndex((fact) => fact.type === 'wait.opened' && fact.step === step))

/** The facts' record of what this step received, one number per event. */
const receivedBy = (ending: Ending, step: string): readonly Json[] =>
  sinceOpened(ending, step).flatMap((fact) => {
    if (fact.type !== 'wait.received' || fact.step !== step) return []
    return [numberIn(ending.eventBySequence(fact.event.sequence)?.data ?? null)]
  })

const hasTimedOut = (ending: Ending, step: string): boolean =>
  sinceOpened(ending, step).some((fact) => fact.type === 'wait.timed_out' && fact.step === step)

export const either: Play = {
  name: 'either',
  functions: (scene, edition) => [
    fn<Errand>('either', { trigger: 'go.either' }, async (context) => {
      if (context.input.kind % 2 === 1) await perform(scene, context, 'first', 0, { delayMs: 50 })
      if (edition === 2) await perform(scene, context, 'extra', 0)
      const answer = await context.step.waitForEvent('answer', {
        anyOf: ['said.yes', 'said.no'],
        match: 'payload.id',
        timeout: 1_200,
      })
      return [numberOf(answer), await perform(scene, context, 'after', 1)]
    }),
  ],
  cues: ({ id, kind }) => [
    { type: kind % 3 === 0 ? 'said.no' : 'said.yes', data: { id, n: 1 } },
    { type: 'said.yes', data: { id, n: 2 } },
  ],
  output: (ending) => [hasTimedOut(ending, 'answer') ? 'timed_out' : (receivedBy(ending, 'answer')[0] ?? null), 1],
}

/** Two waits for the same type are open at the same time: each event goes to one of them. */
export const both: Play = {
  name: 'both',
  functions: (scene) => [
    fn<Errand>('both', { trigger: 'go.both' }, async (context) => {
      const { step } = context
      const [all, one] = await Promise.all([
        step.waitForEvent('all', { allOf: ['part.one', 'part.two'], match: 'payload.id' }),
        step.waitForEvent('one', { event: 'part.one', if: 'payload.id == trigger.id && payload.n > 1' }),
      ])
      return [
        ...all.events.map((event) => numberIn(event.data)),
        numberOf(one),
        await perform(scene, context, 'after', 1),
      ]
    }),
  ],
  cues: ({ id }) => [
    { type: 'part.one', data: { id, n: 1 } },
    { type: 'part.two', data: { id, n: 2 } },
    { type: 'part.one', data: { id, n: 3 } },
    { type: 'part.one', data: { id, n: 4 } },
  ],
  output: (ending) => [...receivedBy(ending, 'all'), ...receivedBy(ending, 'one'), 1],
}

/** The events may come long before the waits: the run works and sleeps first, then receives them one after another. */
export const early: Play = {
  name: 'early',
  functions: (scene, edition) => [
    fn<Errand>('early', { trigger: 'go.early' }, async (context) => {
      await perform(scene, context, 'work', 0, { delayMs: 60 })
      if (edition === 2) await perform(scene, context, 'extra', 0)
      await context.step.sleep('rest', 100)
      const bell = { event: 'bell.rang', match: 'payload.id' }
      return [
        numberOf(await context.step.waitForEvent('bell', bell)),
        numberOf(await context.step.waitForEvent('again', bell)),
      ]
    }),
  ],
  cues: ({ id }) => [
    { type: 'bell.rang', data: { id, n: 1 } },
    { type: 'bell.rang', data: { id, n: 2 } },
  ],
  output: (ending) => [...receivedBy(ending, 'bell'), ...receivedBy(ending, 'again')],
}

/** Step, timer and event race; a step of its own records the winner. */
export const race: Play = {
  name: 'race',
  functions: (scene) => [
    fn<Errand>('race', { trigger: 'go.race' }, async (context) => {
      const { step, input } = context
      const first = await Promise.race([
        perform(scene, context, 'runner', 'step', { delayMs: 100 + 50 * (input.kind % 4) }),
        step.sleep('timer', 200).then(() => 'timer'),
        step.waitForEvent('flag', { event: 'flag.waved', match: 'payload.id' }).then(() => 'event'),
      ])
      const winner = await perform(scene, context, 'winner', first)
      await step.sleep('rest', 100)
      return [winner, await perform(scene, context, 'after', 1)]
    }),
  ],
  cues: ({ id }) => [{ type: 'flag.waved', data: { id } }],
  output: ({ facts }) => {
    const winner = facts.find((fact) => fact.type === 'step.completed' && fact.step === 'winner')
    return [winner?.type === 'step.completed' && 'value' in winner.result ? winner.result.value : null, 1]
  },
}
