/** Plays that are started by schedules: a few slots each, with every policy for overlaps and catching up. */
import { fn } from '#executors/workflow/function.ts'
import type { ScheduleOptions } from '#manifest/time/schedule.ts'
import { type Context, type Errand, type Play, perform, type ScheduleRule, START } from '#test/chaos/sim/play.ts'

const EVERY_MS = 1_000
const END_AT = START + 7 * EVERY_MS
const LONG_MS = 30_000
const none = (): readonly [] => []

const scheduled = (name: string, sleepMs: number, options: Omit<ScheduleOptions, 'name'>, endAt = END_AT): Play => ({
  name,
  functions: (scene, edition) => [
    fn<Errand>(name, {}, async (context) => {
      if (edition === 2) await perform(scene, context as Context, 'extra', 0)
      await perform(scene, context as Context, 'note', 0)
      await context.step.sleep('work', sleepMs)
      return context.schedule?.slot ?? null
    }),
  ],
  schedules: [{ name, function: name, every: EVERY_MS, end: endAt, tz: 'UTC', ...options }],
  cues: none,
  coordinator: { kind: 'schedule', everyMs: EVERY_MS, endAt, apart: options.overlap !== 'allow' },
  output: ({ facts: [first] }) =>
    first?.type === 'run.started' && first.input.kind === 'scheduled' ? first.input.occasion.slot : null,
})

export const tick = scheduled('tick', 1_300, { overlap: 'skip', missed: { policy: 'run_once' } })

export const tock = scheduled('tock', 700, {
  overlap: 'buffer_one',
  missed: { policy: 'run_all', max: 3, spacing: 200 },
})

export const march = scheduled('march', 1_200, { overlap: 'buffer_all', missed: { policy: 'skip' } })

export const pulse = scheduled('pulse', LONG_MS, { overlap: 'cancel_running', missed: { policy: 'run_once' } })

export const flock = scheduled('flock', 1_500, { overlap: 'allow', missed: { policy: 'run_all', max: 2 } })

/** People request slots of the past, also while it is paused. */
const refillSlots = scheduled('refill', 300, { overlap: 'buffer_all', missed: { policy: 'skip' } })
export const refill: Play = {
  ...refillSlots,
  coordinator: { ...(refillSlots.coordinator as ScheduleRule), backfills: true },
}

/** Only two slots, the second after the first. */
export const brief = scheduled(
  'brief',
  1_200,
  { overlap: 'buffer_all', missed: { policy: 'run_all' } },
  START + 2 * EVERY_MS,
)

/** Its slots are events, and the events start runs. */
export const chime: Play = {
  name: 'chime',
  functions: (scene) => [
    fn<Errand>('chime', { trigger: 'go.chime' }, (context) => perform(scene, context, 'note', context.input.id)),
  ],
  schedules: [{ name: 'chime', emit: 'go.chime', input: { id: 0, kind: 0 }, every: EVERY_MS, end: END_AT, tz: 'UTC' }],
  cues: none,
  coordinator: { kind: 'schedule', everyMs: EVERY_MS, endAt: END_AT, apart: false, emits: 'go.chime' },
  output: ({ errand: { id } }) => id,
}
