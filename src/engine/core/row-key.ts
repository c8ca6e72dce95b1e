/** Refuses, before it is written, a text that no store can hold as a key (model/kernel/row-key.ts). */
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { type KeyRule, keyProblem } from '#model/kernel/row-key.ts'

export const requireKey = (rule: KeyRule, text: string, code: ErrorCode = 'INPUT_INVALID'): void => {
  const problem = keyProblem(rule, text)
  if (problem !== null) throw new TrihandError(code, problem)
}
