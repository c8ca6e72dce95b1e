/**
 * An executor type as its author declares it.
 *
 * Owns the declaration, and the check that a task fits the executor's schema before it is passed on. That each type has one executor
 * is manifest/define/executors.ts.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Abort, Envelope, Executor, ExecutorResult } from '#ports/executor.ts'
import { type ContractExecute, contractExecutor } from './contract.ts'

const KIND = Symbol.for('trihand.kind')
const MAX_ISSUES = 5

/** What performs the tasks of a type: `{ task: Translation, execute: async ({ task }) => … }`. */
export interface ExecutorOptions {
  /** The schema of its tasks, without `task_type`. Absent: any. */
  readonly task?: StandardSchemaV1
  /** The envelope has its wire names, too (`task_id`, `constraints.max_tokens`), and the result may use them. */
  readonly execute: ContractExecute
}

/** An executor type, as `executor` gives it to a system. */
export interface ExecutorSource {
  /** The type that `step.execute` names. */
  readonly type: string
  /** What performs its tasks. */
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
    const message = `the task does not match the schema of ${envelope.executorType}: ${found}`
    return { status: 'failed', error: { code: 'INPUT_INVALID', message, retryable: false, definite: true } }
  }

/**
 * Declares the executor for the tasks of a type.
 *
 * ```ts
 * executor('translate', { execute: async ({ task }) => ({ status: 'success', result: await translate(task.input) }) })
 * ```
 */
export const executor = (type: string, { task, execute }: ExecutorOptions): ExecutorSource => {
  const spoken = contractExecutor(execute)
  const source = { type, performer: { execute: task === undefined ? spoken : checked(task, spoken) } }
  Object.defineProperty(source, KIND, { value: 'executor' })
  return source
}
