/** Refuses a text that no store can have as a key, with a code, before it is written (model/kernel/row-key.ts). */
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { type KeyRule, keyProblem } from '#model/kernel/row-key.ts'

export const requireKey = (rule: KeyRule, text: string, code: ErrorCode = 'INPUT_INVALID'): void => {
  const problem = keyProblem(rule, text)
  if (problem !== null) throw new TrihandError(code, problem)
}
