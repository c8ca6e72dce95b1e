/**
 * Performs one step without state of its own: an envelope in, a result out. The seed's contract, with our names.
 *
 * executor-1  Never throws and never retries; failure is a result with a code.
 * executor-2  Never touches the ledger, the page or another executor.
 * executor-3  Stops soon after its signal aborts; a later answer is ignored or kept as evidence.
 */
import type { Usage } from '#model/agent/usage.ts'
import type { Json } from '#model/kernel/json.ts'

export interface Executor {
  /** Code in this process may answer synchronously: most step bodies wait for nothing. */
  execute(envelope: Envelope, abort: Abort): Promise<ExecutorResult> | ExecutorResult
}

/** The signal is created when it is first read: most steps end before they could be stopped. */
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
  /** Where the previous attempt stopped, in the executor's own format. */
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

/** Hard limits: the executor stays within them, and the engine checks that it did. */
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
      /** Only in a partial result: pass it back to continue from here. */
      readonly resumeToken?: string
    }
  | {
      readonly status: 'failed'
      readonly error: {
        readonly code: string
        readonly message: string
        readonly retryable: boolean
        readonly definite: boolean
        /** The other side asks not to be called again before this time has passed. */
        readonly retryAfterMs?: number
      }
      /** A failed attempt may cost, too: this is what it used. */
      readonly usage?: Usage
      readonly modelUsed?: string
    }
