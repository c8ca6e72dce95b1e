/** Plays of idempotency keys: of events that are batched and fail one by one, and so many that a gate stores those of ended runs elsewhere. */
import { fn } from '#executors/workflow/function.ts'
import type { Json } from '#model/kernel/json.ts'
import {
  type Cue,
  type Ending,
  type Errand,
  type GateRule,
  type Play,
  perform,
  type Scene,
} from '#test/chaos/sim/play.ts'

/** By kind: succeeds · always fails · fails in the first run that receives it. */
const isWell = ({ world }: Scene, run: string, event: { readonly id: string; readonly kind: number }): boolean => {
  const runs = world.runsGiven(event.id, run)
  return event.kind % 3 === 0 || (event.kind % 3 === 2 && runs > 1)
}

const PARCEL_KEYS = 4
const parcelRule: GateRule = {
  kind: 'gate',
  keyOf: ({ kind }) => String(kind % PARCEL_KEYS),
  batch: { maxSize: 3, maxWaitMs: 300 },
  itemKeys: true,
}

/** Each event of a batch has a key of its own: an item that is to be retried holds it, one that failed for good releases it. */
export const parcel: Play = {
  name: 'parcel',
  functions: (scene) => [
    fn<readonly Errand[]>(
      'parcel',
      {
        trigger: 'go.parcel',
        batch: { maxSize: 3, maxWait: 300 },
        idempotency: { key: `payload.kind % ${PARCEL_KEYS}` },
        retry: { maxAttempts: 2, baseMs: 400, factor: 1, maxMs: 400 },
      },
      async (context) =>
        context.step.run('pack', () => ({
          items: context.events.map(({ id, data }) => {
            const { kind } = data as unknown as Errand
            return { id, status: isWell(scene, context.run.id, { id, kind }) ? 'success' : 'failed' }
          }),
        })),
    ),
  ],
  cues: ({ id, kind }) => cues('parcel', 3, { id, kind }),
  coordinator: parcelRule,
  output: ({ output }) => output as Json,
  mayEnd: ({ status }: Ending) => status === 'partial' || status === 'failed',
}

const cues = (name: string, more: number, { id, kind }: Errand): readonly Cue[] =>
  Array.from({ length: more }, (_, i) => ({ type: `go.${name}`, data: { id: 100 * id + i, kind: kind + i + 1 } }))

const RECALL_KEYS = 6

/** So many events that keys of ended runs leave the state of their gate. */
export const recall: Play = {
  name: 'recall',
  functions: (scene) => [
    fn<Errand>('recall', { trigger: 'go.recall', idempotency: { key: `payload.kind % ${RECALL_KEYS}` } }, (context) =>
      perform(scene, context, 'note', context.input.id),
    ),
  ],
  cues: (errand) => cues('recall', 14, errand),
  coordinator: { kind: 'gate', keyOf: ({ kind }) => String(kind % RECALL_KEYS), once: true },
  output: ({ errand: { id } }) => id,
}
