/** Plays whose handler has a gate: each policy of flow control alone, and all of them at once. */
import { fn } from '#executors/workflow/function.ts'
import type { FlowSource } from '#model/flow/policies/flow-source.ts'
import type { Json } from '#model/kernel/json.ts'
import {
  type Context,
  type Cue,
  type Ending,
  type Errand,
  type GateRule,
  type Play,
  perform,
} from '#test/chaos/sim/play.ts'

const KEYS = 2
const KEY = `payload.kind % ${KEYS}`
const keyOf = ({ kind }: Errand): string => String(kind % KEYS)
/** Long enough that only a cancel can have ended it soon. */
const LONG_MS = 30_000

interface Gated {
  readonly flow: FlowSource
  readonly rule?: Omit<GateRule, 'kind' | 'keyOf'>
  readonly sleepMs?: number
  /** How many more events each errand sends. */
  readonly more?: number
}

/** The errands for which the run was started, by the facts. */
const errandsOf = ({ facts: [first], errand, eventBySequence }: Ending): readonly Errand[] => {
  const input = first?.type === 'run.started' ? first.input : null
  if (input?.kind !== 'events') return [errand]
  return input.sequences.map((sequence) => eventBySequence(sequence)?.data as unknown as Errand)
}

const cuesOf = (name: string, more: number, { id, kind }: Errand): readonly Cue[] =>
  Array.from({ length: more + (kind % 3) }, (_, i) => ({
    type: `go.${name}`,
    data: { id: 100 * id + i, kind: kind + i },
  }))

const gated = (name: string, { flow, rule = {}, sleepMs = 0, more = 0 }: Gated): Play => ({
  name,
  functions: (scene, edition) => [
    fn<Errand | readonly Errand[]>(name, { trigger: `go.${name}`, ...flow }, async (context) => {
      const { input, step } = context
      scene.world.enter(context.run.id)
      if (edition === 2) await perform(scene, context as Context, 'extra', 0)
      await perform(scene, context as Context, 'note', 0)
      if (sleepMs > 0) await step.sleep('work', sleepMs)
      return (Array.isArray(input) ? input : [input]).map(({ id }: Errand): Json => id)
    }),
  ],
  cues: (errand) => cuesOf(name, more, errand),
  coordinator: { kind: 'gate', keyOf, ...rule },
  output: (ending) => errandsOf(ending).map(({ id }) => id),
})

export const trail = gated('trail', { flow: { debounce: { period: 400, key: KEY } }, rule: { quietMs: 400 } })

export const collect = gated('collect', {
  flow: { debounce: { period: 300, key: KEY, mode: 'collect' }, overlap: 'buffer_one' },
  rule: { quietMs: 300, apart: 'all' },
  sleepMs: 250,
})

export const bundle = gated('bundle', {
  flow: { batch: { maxSize: 3, maxWait: 500, key: KEY } },
  rule: { batch: { maxSize: 3, maxWaitMs: 500 } },
  more: 1,
})

export const meter = gated('meter', {
  flow: { rateLimit: { limit: 2, period: 1_000, key: KEY } },
  rule: { rate: { limit: 2, periodMs: 1_000 } },
  more: 1,
})

export const drip = gated('drip', {
  flow: { throttle: { limit: 2, period: 1_000, key: KEY } },
  rule: { spacingMs: 500 },
})

export const sole = gated('sole', {
  flow: { overlap: 'skip', overlapKey: KEY },
  rule: { apart: 'key' },
  sleepMs: 300,
})

export const successor = gated('successor', {
  flow: { overlap: 'buffer_one', overlapKey: KEY },
  rule: { apart: 'key' },
  sleepMs: 300,
})

export const queue = gated('queue', {
  flow: { overlap: 'buffer_all', overlapKey: KEY },
  rule: { apart: 'key' },
  sleepMs: 200,
})

export const fresh = gated('fresh', {
  flow: { overlap: 'cancel_running', overlapKey: KEY },
  rule: { apart: 'key' },
  sleepMs: LONG_MS,
})

export const oust = gated('oust', { flow: { overlap: 'terminate_running', overlapKey: KEY }, sleepMs: LONG_MS })

export const unique = gated('unique', { flow: { idempotency: { key: KEY } }, rule: { once: true }, sleepMs: 200 })

export const hold = gated('hold', { flow: { whilePaused: 'hold' } })

/** So many facts that the gate takes checkpoints. */
export const rush = gated('rush', {
  flow: {
    idempotency: { key: 'payload.id' },
    rateLimit: { limit: 9, period: 2_000, key: KEY },
    debounce: { period: 200, maxWait: 600, key: KEY, mode: 'collect' },
    overlap: 'buffer_all',
    overlapKey: KEY,
    throttle: { limit: 4, period: 1_000, key: KEY },
    whilePaused: 'hold',
  },
  rule: { apart: 'key', rate: { limit: 9, periodMs: 2_000 }, spacingMs: 250 },
  sleepMs: 100,
  more: 6,
})

/** Its runs are called by others, too, and wait for each other. */
export const desk = gated('desk', {
  flow: { overlap: 'buffer_all', whilePaused: 'hold' },
  rule: { apart: 'all' },
  sleepMs: 60,
})

/** Calls a handler that has a gate: the calls wait for their turn there. */
export const shift: Play = {
  name: 'shift',
  functions: (scene) => [
    fn<Errand>('shift', { trigger: 'go.shift' }, async (context) => {
      const { step, input } = context
      const both = await Promise.all(
        [1, 2].map((n) => step.invoke('call', 'desk', { id: input.id + n, kind: input.kind }, { key: `${n}` })),
      )
      return [...both, await perform(scene, context, 'after', 1)]
    }),
  ],
  cues: () => [],
  output: ({ errand: { id } }) => [[id + 1], [id + 2], 1],
}
