/**
 * Processes that run the code of isolated modules, and the messages between them and the host.
 *
 * code-process-1  A process runs one entry of one function at a time; its messages are judged as calls by code in this process are.
 * code-process-2  A process that dies or hangs is reported once (`lost`), and never given out again.
 */
import type { Isolation } from '#model/access/module.ts'
import type { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

/** A function of an isolated module: a file below the module's folder, and the name of its export. */
export interface CodeFile {
  readonly file: string
  readonly name: string
}

export interface CodeFailure {
  readonly message: string
  readonly code?: string
  readonly step?: string
  readonly done?: readonly string[]
  readonly final?: boolean
}

/** Messages to the process. The process's answers carry the turn that they were made in. */
export type ToProcess =
  | { readonly t: 'enter'; readonly file: string; readonly name: string; readonly context: unknown }
  | { readonly t: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: CodeFailure }
  | {
      readonly t: 'body'
      readonly id: number
      readonly call: number
      readonly fallback: boolean
      readonly attempt: number
      readonly effectKey: string
    }
  | { readonly t: 'abort'; readonly id: number; readonly message: string }

/** A call that the code asks for, not validated yet: `op` names the operation. */
export type Call = { readonly [name: string]: Json }

export interface ProcessListener {
  /** Receives all calls that the code made in one turn of its event loop; the code's turn came after this turn of ours. */
  turn(turn: number, calls: readonly Call[]): void
  lost(error: TrihandError): void
}

export interface CodeProcess {
  begin(listener: ProcessListener): void
  /** `turn`: the number that the code's later messages name. */
  send(turn: number, message: ToProcess): void
  /**
   * Ends the entry: its code is asked to stop. The process is free when no work of the entry is left, or it is replaced. The listener is
   * not called again.
   */
  leave(reason: string): void
}

export interface CodeProcesses {
  /** Waits for a free process. Throws the error that keeps a process from starting. */
  acquire(module: string, isolation: Isolation, signal: AbortSignal): Promise<CodeProcess>
}
