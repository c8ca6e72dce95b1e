/**
 * The task that asks whether the effect of a step took place: what it shows, which answers it accepts, and what an answer means.
 *
 * Owns the wording and the three actions. uncertain-step.ts decides when it is asked; the engine reads the answer.
 */
import type { WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { Verdict } from '#model/run/fact.ts'
import type { LateResult, UncertainStep } from '#model/run/step.ts'
import { uncertainRules } from '#model/run/uncertain-step.ts'
import { builtInAction } from './action.ts'
import type { Section, TaskAction, TaskSpec } from './spec.ts'

const OPERATORS = 'operators'
/** The field in which a person enters the result of the step. */
export const RESULT_FIELD = 'result'
const EVIDENCE = 'evidence'
const MAX_SHOWN = 16_384

const VERDICTS: ReadonlyMap<string, Verdict> = new Map([
  ['it_happened', 'happened'],
  ['run_again', 'run_again'],
  ['abort', 'abort'],
])

/** Null: the action is not an answer to the question. */
export const verdictOf = (action: string): Verdict | null => VERDICTS.get(action) ?? null

export const actionOf = (verdict: Verdict): string => (verdict === 'happened' ? 'it_happened' : verdict)

/** Returns the text that a person types: the step's name without its loop key. */
const confirmationOf = (step: string): string => step.split('[')[0] ?? step

/** Evidence is stored with facts and shown to people: a part of a large value is enough to find it again. */
export const shownValue = (value: Json): Json => {
  const text = JSON.stringify(value)
  return text.length <= MAX_SHOWN ? value : { characters: text.length, begins_with: text.slice(0, MAX_SHOWN) }
}

const shownPayload = (payload: Payload): Json =>
  'value' in payload ? shownValue(payload.value) : { blob: payload.blob, bytes: payload.bytes }

const shownLate = (late: LateResult | undefined): Json => {
  if (late === undefined) return null
  if (late.error !== null) return { error: { ...late.error } }
  return { result: late.result === null ? null : shownPayload(late.result) }
}

const actionsFor = (step: string, warning: string | null): readonly TaskAction[] => {
  const answer = { ...builtInAction('respond'), confirm: confirmationOf(step) }
  return [
    { ...answer, name: 'it_happened', label: 'It happened' },
    { ...answer, name: 'run_again', label: 'Run again', ...(warning !== null && { warning }) },
    { ...answer, name: 'abort', label: 'Abort' },
  ]
}

const RISK = 'If you run the step again and that worker continues, the effect happens twice.'

const warningOf = ({ uncertain, earlier }: Pick<Asked, 'uncertain' | 'earlier'>): string | null => {
  if (uncertainRules.mayStillAct(uncertain)) {
    const who =
      uncertain.performer === undefined ? 'The worker that started it' : `Worker ${uncertain.performer.worker}`
    return `${who} has not reported back and may still carry out the first attempt. ${RISK}`
  }
  // uncertain-3
  if (earlier.length === 0) return null
  const [who, have] = earlier.length === 1 ? ['Worker', 'has'] : ['Workers', 'have']
  return `${who} ${earlier.join(', ')} ${have} not reported back and may still carry out an earlier attempt. ${RISK}`
}

const ENDED = 'It has ended.'
const MAY_ACT = 'It may still act.'

const evidence = (content: Json): Section => ({
  ...{ id: EVIDENCE, type: 'preview', title: 'Evidence', items: [], editable: false, schema: null },
  content,
})

export interface Asked {
  readonly handler: string
  readonly step: string
  readonly uncertain: UncertainStep
  /** The workers of earlier attempts that may still act. */
  readonly earlier: readonly WorkerId[]
  /** The input of the run: shown if the step itself names no input. */
  readonly input: Json
}

const standOf = ({ uncertain, earlier }: Pick<Asked, 'uncertain' | 'earlier'>): { readonly [name: string]: Json } => ({
  first_attempt: uncertainRules.mayStillAct(uncertain) ? MAY_ACT : ENDED,
  earlier_attempts: earlier,
  late_result: shownLate(uncertain.late),
})

export const uncertainTask = ({ handler, step, uncertain, earlier, input }: Asked): TaskSpec => {
  const { attempt, reason, effectKey, performer } = uncertain
  return {
    ...{ type: 'decision', origin: 'uncertain', name: handler, title: `Did it happen? ${step} of ${handler}` },
    instructions: `It is unknown whether the effect of this step happened. Check the target of the step, then answer: it happened (put the result of the step into the field ${RESULT_FIELD}), run it again, or abort the step.`,
    context: null,
    remarks: null,
    priority: 0,
    requester: null,
    sections: [
      evidence({
        ...{ handler, step, attempt, reason, idempotency_key: effectKey, target: uncertain.evidence?.target ?? null },
        ...(uncertain.evidence === undefined
          ? { input_of_the_run: shownValue(input) }
          : { input: shownValue(uncertain.evidence.input) }),
        worker: performer?.worker ?? null,
        ...standOf({ uncertain, earlier }),
      }),
    ],
    actions: actionsFor(step, warningOf({ uncertain, earlier })),
    levels: [{ to: { users: [], groups: [OPERATORS] }, deadline: null }],
    reminders: null,
    autoAction: null,
    quorum: { approve: 1, reject: 1 },
    excluded: [],
    ...(performer !== undefined && { cause: `worker ${performer.worker}` }),
  }
}

/** Returns the same question after an attempt has answered late: its answer is evidence only, and has no effect. */
export const withLateResult = (
  { sections }: Pick<TaskSpec, 'sections'>,
  { step, ...asked }: Pick<Asked, 'step' | 'uncertain' | 'earlier'>,
): { readonly sections: readonly Section[]; readonly actions: readonly TaskAction[] } => ({
  sections: sections.map((section) =>
    section.id === EVIDENCE
      ? {
          ...section,
          content: {
            ...(section.content as { readonly [name: string]: Json }),
            ...standOf(asked),
          },
        }
      : section,
  ),
  actions: actionsFor(step, warningOf(asked)),
})
