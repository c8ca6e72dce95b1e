/**
 * An executor type as its author declares it.
 *
 * Owns the declaration, and that a task fits what its executor declared before it is handed over. That each type has one executor
 * is manifest/executors.ts.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Abort, Envelope, Executor, ExecutorResult } from '../ports/executor.ts'

const KIND = Symbol.for('trihand.kind')
const MAX_ISSUES = 5

export interface ExecutorOptions {
  /** What its tasks must look like, `task_type` aside. Absent: any. */
  readonly task?: StandardSchemaV1
  readonly execute: Executor['execute']
}

export interface ExecutorSource {
  readonly type: string
  readonly performer: Executor
}

const issueOf = ({ message, path = [] }: StandardSchemaV1.Issue): string =>
  `/${path.map((part) => String(typeof part === 'object' ? part.key : part)).join('/')}: ${message}`

const checked =
  (schema: StandardSchemaV1, execute: Executor['execute']): Executor['execute'] =>
  async (envelope: Envelope, abort: Abort): Promise<ExecutorResult> => {
    const { issues } = await schema['~standard'].validate(envelope.task.input)
    if (issues === undefined) return execute(envelope, abort)
    const found = issues.slice(0, MAX_ISSUES).map(issueOf).join('; ')
    const message = `the task does not fit ${envelope.executorType}: ${found}`
    return { status: 'failed', error: { code: 'INPUT_INVALID', message, retryable: false, definite: true } }
  }

/** Declares who performs the tasks of a type. */
export const executor = (type: string, { task, execute }: ExecutorOptions): ExecutorSource => {
  const source = { type, performer: { execute: task === undefined ? execute : checked(task, execute) } }
  Object.defineProperty(source, KIND, { value: 'executor' })
  return source
}
