/**
 * A stateless performer of one step: an envelope in, a result out. The seed's contract, in our spelling.
 *
 * executor-1  Never throws and never retries; failure is a result with a code.
 * executor-2  Never touches the ledger, the page or another executor.
 * executor-3  Stops soon after its signal aborts; what it answers then is ignored or kept as evidence.
 */
import type { Usage } from '#model/agent/usage.ts'
import type { Json } from '#model/kernel/json.ts'

export interface Executor {
  /** Code in this process may answer at once: most bodies of steps wait for nothing. */
  execute(envelope: Envelope, abort: Abort): Promise<ExecutorResult> | ExecutorResult
}

/** The signal is made when it is first asked for: most steps are over before anyone could want to stop them. */
export interface Abort {
  readonly signal: AbortSignal
}

export interface Envelope {
  /** The same for every attempt of one step. */
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
  /** One key for every attempt, to send to outside systems. */
  readonly effectKey?: string
  /** Where the attempt before stopped, in the executor's own words. */
  readonly resumeToken?: string
  readonly projectId?: string | number
  readonly conversation?: readonly Utterance[]
  readonly documents?: readonly RetrievedDocument[]
}

export interface Utterance {
  readonly role: string
  readonly content: string
}

export interface RetrievedDocument {
  readonly title: string
  readonly snippet: string
}

/** Final: whoever performs the task stays within them, and the engine looks whether it did. */
export interface Constraints {
  readonly timeoutMs: number
  readonly maxTokens?: number
  readonly temperature?: number
  readonly allowedModels?: readonly string[]
}

export type ExecutorResult =
  | {
      readonly status: 'success' | 'partial'
      readonly result: unknown
      readonly usage?: Usage
      readonly modelUsed?: string
      /** Of a partial result: give it back to go on from here. */
      readonly resumeToken?: string
    }
  | {
      readonly status: 'failed'
      readonly error: {
        readonly code: string
        readonly message: string
        readonly retryable: boolean
        readonly definite: boolean
        /** The other side asks not to be called before. */
        readonly retryAfterMs?: number
      }
      /** Paid for nothing, and paid. */
      readonly usage?: Usage
      readonly modelUsed?: string
    }
