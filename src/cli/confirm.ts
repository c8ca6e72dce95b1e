/**
 * A question before something large happens: asked on a terminal, and nowhere else.
 *
 * Owns when a person can be asked at all. A script never waits for an answer: it is told which flag gives it, and nothing hangs.
 */
import { createInterface } from 'node:readline'
import { TrihandError } from '../model/errors.ts'
import { type Output, visible } from './output.ts'

interface Question {
  /** What will happen. */
  readonly text: string
  /** What a person types to go on. Absent: y. */
  readonly word?: string
  /** The flag that answers it. */
  readonly flag: string
}

/** Null: the input ended, or the person broke off. */
const typed = (prompt: string): Promise<string | null> =>
  new Promise((resolve) => {
    const line = createInterface({ input: process.stdin, output: process.stderr })
    line.on('close', () => resolve(null))
    line.question(prompt, (answer) => {
      resolve(answer)
      line.close()
    })
  })

/** Before anything is shown that only leads to the question. */
export const demandSomebody = (output: Output, { text, flag }: Question): void => {
  if (output.isJson || !output.isTerminal || process.stdin.isTTY !== true)
    throw new TrihandError('NOT_A_TERMINAL', `${text} Nobody can be asked here: ${flag} says that it is meant`)
}

/** Whether the person means it; anything else, and the end of the input, is no. */
export const confirmed = async (output: Output, question: Question): Promise<boolean> => {
  const { text, word } = question
  demandSomebody(output, question)
  if (word === undefined) return /^y(es)?$/i.test((await typed(`${visible(text)} [y/N] `))?.trim() ?? '')
  output.talk(visible(text))
  return (await typed(`Type ${word} to go on: `))?.trim() === word
}
