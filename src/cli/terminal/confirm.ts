/**
 * A question before something large happens: asked on a terminal, and nowhere else.
 *
 * Owns when a person can be asked at all. A script never waits for an answer: it is told which flag gives it, and nothing hangs.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { type Ask, converse } from './conversation.ts'
import { type Output, visible } from './output.ts'

interface Question {
  /** What will happen. */
  readonly text: string
  /** What a person types to go on. Absent: y. */
  readonly word?: string
  /** The flag that answers it. */
  readonly flag: string
}

/** Before anything is shown that only leads to the question. */
export const requireSomebody = (output: Output, { text, flag }: Question): void => {
  if (output.isJson || !output.isTerminal || process.stdin.isTTY !== true)
    throw new TrihandError('NOT_A_TERMINAL', `${text} Nobody can be asked here: ${flag} says that it is meant`)
}

/** Whether the person means it; anything else, and the end of the input, is no. */
export const confirmed = async (output: Output, question: Question): Promise<boolean> => {
  requireSomebody(output, question)
  return converse((ask) => isMeant(output, question, ask))
}

/** The same as one of several questions. */
export const isMeant = async (output: Output, { text, word }: Question, ask: Ask): Promise<boolean> => {
  if (word === undefined) return /^y(es)?$/i.test((await ask(`${visible(text)} [y/N] `))?.trim() ?? '')
  output.talk(visible(text))
  return (await ask(`Type ${word} to go on: `))?.trim() === word
}
