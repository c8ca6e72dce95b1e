/**
 * Asks for a confirmation before a large action; only at a terminal.
 *
 * Owns when a person can be asked. A script never waits for an answer: it gets an error that names the flag to give instead.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { type Ask, converse } from './conversation.ts'
import { type Output, visible } from './output.ts'

interface Question {
  /** What will happen. */
  readonly text: string
  /** The word to type as confirmation. Absent: y. */
  readonly word?: string
  /** The flag that answers the question. */
  readonly flag: string
}

/** Refuses without a terminal; called before anything is printed that only leads to the question. */
export const requireTerminal = (output: Output, { text, flag }: Question): void => {
  if (output.isJson || !output.isTerminal || process.stdin.isTTY !== true)
    throw new TrihandError('NOT_A_TERMINAL', `${text} This is not a terminal, so the command cannot ask: give ${flag}`)
}

/** True if the person confirms; any other answer, and the end of the input, is no. */
export const confirmed = async (output: Output, question: Question): Promise<boolean> => {
  requireTerminal(output, question)
  return converse((ask) => isMeant(output, question, ask))
}

/** The same within a conversation of several questions. */
export const isMeant = async (output: Output, { text, word }: Question, ask: Ask): Promise<boolean> => {
  if (word === undefined) return /^y(es)?$/i.test((await ask(`${visible(text)} [y/N] `))?.trim() ?? '')
  output.talk(visible(text))
  return (await ask(`Type ${word} to continue: `))?.trim() === word
}
