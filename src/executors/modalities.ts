/**
 * Which of the three modalities is entered for a handler.
 *
 * Owns the choice by modality, and that an agent moves an entity as a function does (workflow/declared.ts).
 */
import { after, before, rootsOf } from '#executors/workflow/declared.ts'
import type { CancelRule } from '#model/event/cancel-on.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { toJson } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import { isPartial, partialValue } from '#model/run/partial.ts'
import type { WorkflowSpec } from '#model/workflow/spec.ts'
import type { Abort } from '#ports/executor.ts'
import type { Entry } from '#ports/step-port.ts'
import { heedCancels } from './cancel-on.ts'

type EnterModality<Options> = (entry: Entry, options: Options, abort: Abort) => unknown

interface Declared {
  readonly modality: Modality
  readonly cancelOn: readonly CancelRule[]
  readonly workflow: WorkflowSpec
}

/** The state is checked before the work, and moved after it. */
const moving = async <Options extends Declared>(
  hand: EnterModality<Options>,
  entry: Entry,
  options: Options,
  abort: Abort,
): Promise<unknown> => {
  const roots = rootsOf(entry)
  const found = await before(options.workflow, entry, roots)
  const result = await hand(entry, options, abort)
  const output = toJson(partialValue(result))
  const ending = isPartial(result) ? 'partial' : 'success'
  await after(options.workflow, entry, found, { roots: { ...roots, output, result: output }, ending })
  return result
}

/** Returns the entry function, by the modality of the handler. */
export const enterBy =
  <Options>(hands: Readonly<Partial<Record<Modality, EnterModality<Options>>>>): EnterModality<Options & Declared> =>
  (entry, options, abort) => {
    const hand = hands[options.modality]
    if (hand === undefined)
      throw new TrihandError('FUNCTION_NOT_IMPLEMENTED', `this process has no ${options.modality} executor`)
    const heeding = heedCancels(entry, options.cancelOn)
    return options.modality === 'agent' && options.workflow.state !== null
      ? moving(hand, heeding, options, abort)
      : hand(heeding, options, abort)
  }
