/**
 * The three hands: which one is entered for a handler.
 *
 * Owns the choice by modality and nothing else.
 */
import type { CancelRule } from '../model/cancel-on.ts'
import { TrihandError } from '../model/errors.ts'
import type { Modality } from '../model/modality.ts'
import type { Abort } from '../ports/executor.ts'
import type { Entry } from '../ports/step-gate.ts'
import { heedCancels } from './cancel-on.ts'

type Hand<Options> = (entry: Entry, options: Options, abort: Abort) => unknown

/** What is entered, by who does the work. */
export const enterBy =
  <Options>(
    hands: Readonly<Partial<Record<Modality, Hand<Options>>>>,
  ): Hand<Options & { readonly modality: Modality; readonly cancelOn: readonly CancelRule[] }> =>
  (entry, options, abort) => {
    const hand = hands[options.modality]
    if (hand === undefined)
      throw new TrihandError('FUNCTION_NOT_IMPLEMENTED', `there is no ${options.modality} hand here`)
    return hand(heedCancels(entry, options.cancelOn), options, abort)
  }
