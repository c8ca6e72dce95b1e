/**
 * A stateless performer of one step: an envelope in, a result out. The seed's contract, in our spelling.
 *
 * executor-1  Never throws and never retries; failure is a result with a code.
 * executor-2  Never touches the ledger, the page or another executor.
 * executor-3  Stops soon after its signal aborts; what it answers then is ignored or kept as evidence.
 */
import type { Json } from '../model/json.ts'

export interface Executor {
  execute(envelope: Envelope, abort: Abort): Promise<ExecutorResult>
}

/** The signal is made when it is first asked for: most steps are over before anyone could want to stop them. */
export interface Abort {
  readonly signal: AbortSignal
}

export interface Envelope {
  readonly taskId: string
  readonly executorType: string
  readonly task: Task
  readonly context: ExecutionContext
  readonly constraints: Constraints
}

/** What to do, not how. `call` is the code of an inline step; other executor types read `input`. */
export interface Task {
  readonly type: string
  readonly input: Json
  readonly call: ((abort: Abort) => unknown) | null
}

export interface ExecutionContext {
  readonly run: string
  readonly step: string
  readonly attempt: number
  readonly traceparent: string | null
}

export interface Constraints {
  readonly timeoutMs: number
}

export type ExecutorResult =
  | { readonly status: 'success' | 'partial'; readonly result: unknown }
  | {
      readonly status: 'failed'
      readonly error: {
        readonly code: string
        readonly message: string
        readonly retryable: boolean
        readonly definite: boolean
      }
    }
