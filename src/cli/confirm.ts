/**
 * A question before something that cannot be taken back: asked on a terminal, and nowhere else.
 *
 * Owns when a person can be asked. A script never waits for an answer: it is told which flag gives it.
 */
import { createInterface } from 'node:readline'
import { TrihandError } from '../model/errors.ts'
import { type Output, visible } from './output.ts'

/** Whether the person says yes; anything else, and the end of the input, is no. */
export const confirm = async (output: Output, question: string, flag: string): Promise<boolean> => {
  if (output.isJson || !process.stdin.isTTY || !process.stdout.isTTY)
    throw new TrihandError('NOT_A_TERMINAL', `${question} Nobody can be asked here; ${flag} says yes`)
  const asked = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await new Promise((resolve) => {
      asked.once('close', () => resolve(false))
      asked.question(`${visible(question)} [y/N] `, (answer) => resolve(/^y(es)?$/i.test(answer.trim())))
    })
  } finally {
    asked.close()
  }
}
