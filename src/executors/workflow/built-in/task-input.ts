/**
 * Reads the members of a task, and builds the failure for a task without a required member.
 *
 * Owns the two shapes in which the built-in executors answer. No exception leaves an executor: `answered` catches it.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { ExecutorResult } from '#ports/executor.ts'

export type Members = { readonly [key: string]: Json }

const isMembers = (value: Json | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const invalid = (key: string, expected: string): TrihandError =>
  new TrihandError('INPUT_INVALID', `task.${key} must be ${expected}`)

export const membersOf = (input: Json): Members => {
  if (!isMembers(input)) throw new TrihandError('INPUT_INVALID', 'the task must be an object')
  return input
}

export const textAt = (task: Members, key: string): string => {
  const value = task[key]
  if (typeof value !== 'string') throw invalid(key, 'a text')
  return value
}

export const textOr = (task: Members, key: string, otherwise: string): string =>
  task[key] === undefined ? otherwise : textAt(task, key)

export const membersOr = (task: Members, key: string): Members => {
  const value = task[key] ?? {}
  if (!isMembers(value)) throw invalid(key, 'an object')
  return value
}

export const listAt = (task: Members, key: string): readonly Members[] => {
  const value = task[key] ?? []
  if (!Array.isArray(value) || !value.every(isMembers)) throw invalid(key, 'a list of objects')
  return value
}

export const wholeOr = (task: Members, key: string, otherwise: number): number => {
  const value = task[key] ?? otherwise
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw invalid(key, 'a whole number from 0')
  return value as number
}

export const failedWith = (code: string, message: string, retryable = false): ExecutorResult => ({
  status: 'failed',
  // These executors have no effect outside, so what failed has definitely not happened.
  error: { code, message, retryable, definite: true },
})

/** executor-1: whatever happens inside, the answer is a value. */
export const answered = async (work: () => Promise<ExecutorResult>): Promise<ExecutorResult> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TrihandError) return failedWith(error.code, error.detail, error.retryable)
    return failedWith('EXECUTOR_FAILED', error instanceof Error ? error.message : String(error))
  }
}
