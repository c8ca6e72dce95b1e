/**
 * A word that a person types before something large happens.
 *
 * Owns when a question may be asked at all: a person can read it and answer it. Everybody else says so with a flag, and nothing hangs.
 */
import { createInterface } from 'node:readline'
import { TrihandError } from '../model/errors.ts'
import { type Output, visible } from './output.ts'

interface Question {
  /** What will happen. */
  readonly text: string
  readonly word: string
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

/** Whether the person typed the word. */
export const confirmed = async (output: Output, { text, word, flag }: Question): Promise<boolean> => {
  if (output.isJson || !output.isTerminal || process.stdin.isTTY !== true)
    throw new TrihandError('NOT_A_TERMINAL', `${text} Nobody can be asked here: ${flag} says that it is meant`)
  output.talk(visible(text))
  return (await typed(`Type ${word} to go on: `))?.trim() === word
}
