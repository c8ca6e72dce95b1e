/**
 * Executor types and who performs them.
 *
 * Owns that each type has one executor, and that a task fits what its executor declared before it is handed over.
 *
 * registry-1  A type is registered once; another under the same name is refused, not a replacement.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { TrihandError } from '../model/errors.ts'
import type { Abort, Envelope, Executor, ExecutorResult } from '../ports/executor.ts'

const TYPE = /^[a-z][a-z0-9_-]{0,63}$/

export interface Registration {
  /** What its tasks must look like, `task_type` aside. Absent: any. */
  readonly task?: StandardSchemaV1
  readonly execute: Executor['execute']
}

const issueOf = ({ message, path = [] }: StandardSchemaV1.Issue): string =>
  `/${path.map((part) => String(typeof part === 'object' ? part.key : part)).join('/')}: ${message}`

const checked =
  (schema: StandardSchemaV1, execute: Executor['execute']): Executor['execute'] =>
  async (envelope: Envelope, abort: Abort): Promise<ExecutorResult> => {
    const { issues } = await schema['~standard'].validate(envelope.task.input)
    if (issues === undefined) return execute(envelope, abort)
    const message = `the task does not fit ${envelope.executorType}: ${issues.slice(0, 5).map(issueOf).join('; ')}`
    return { status: 'failed', error: { code: 'INPUT_INVALID', message, retryable: false, definite: true } }
  }

export type Registrations = Readonly<Record<string, Registration>>

/** Later lists add to earlier ones. Throws EXECUTOR_DUPLICATE for a type that is there already. */
export const registry = (...lists: readonly Registrations[]): ReadonlyMap<string, Executor> => {
  const executors = new Map<string, Executor>()
  for (const [type, { task, execute }] of lists.flatMap((list) => Object.entries(list))) {
    if (!TYPE.test(type))
      throw new TrihandError('MANIFEST_INVALID', `executors.${type}: a type has at most 64 of a-z 0-9 _ -`)
    if (executors.has(type)) throw new TrihandError('EXECUTOR_DUPLICATE', `the type ${type} is registered already`)
    executors.set(type, { execute: task === undefined ? execute : checked(task, execute) })
  }
  return executors
}
