/**
 * Processes that run the code of isolated modules, and the messages between them and the host.
 *
 * code-process-1  A process runs one entry of one function at a time; what it says is judged as if it were said by code in this process.
 * code-process-2  One that dies or hangs is told of once, and never given out again.
 */
import type { Isolation } from '#model/access/module.ts'
import type { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

/** A function of an isolated module: a file below the module's folder, and what it exports. */
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

/** To the process. Its answers carry the turn that they were made in. */
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

/** What the code asks for, unread: `op` says which. */
export type Call = { readonly [name: string]: Json }

export interface ProcessListener {
  /** All that the code asked for in one turn of its loop, which was made after this turn of ours. */
  turn(turn: number, calls: readonly Call[]): void
  lost(error: TrihandError): void
}

export interface CodeProcess {
  begin(listener: ProcessListener): void
  /** `turn`: named by what the code says after it. */
  send(turn: number, message: ToProcess): void
  /** The entry is over: its code is told to stop. The process is free when nothing of it is at work, or is replaced. Nothing more is told. */
  leave(reason: string): void
}

export interface CodeProcesses {
  /** Waits for a free one. Throws what keeps it from beginning. */
  acquire(module: string, isolation: Isolation, signal: AbortSignal): Promise<CodeProcess>
}
