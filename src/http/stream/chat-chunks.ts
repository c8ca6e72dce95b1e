/**
 * A turn in the format of the AI SDK's UI message stream (v1): computes the chunks that a reader still needs to show the current turn.
 *
 * Owns the chunks and what has been sent. Written by hand: the server does not load the client library.
 *
 * chunks-1  Text that was sent is never sent again: text is appended, or the part is dropped and begun anew.
 * chunks-2  The end is sent after the answer was saved, or after it is known that there will be none.
 */
import { planCard } from '#http/wire/plan.ts'
import type { Execution, TurnView } from '#model/chat/turn.ts'
import { ERRORS, isErrorCode } from '#model/kernel/errors.ts'
import type { TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

export type Chunk = { readonly type: string } & { readonly [member: string]: Json | undefined }

/** The task that a person is asked to decide, as the stream names it. */
export interface AskedTask {
  readonly id: TaskId
  readonly hash: string
}

/** The client's answer contains this id, which names the task and the hash of what was shown. */
const approvalId = ({ id, hash }: AskedTask): string => `${id}.${hash}`

const userText = ({ code, message }: { readonly code: string; readonly message: string }): string => {
  const hint = isErrorCode(code) ? ERRORS[code].hint : ''
  return `${message} ${hint} (${code})`.replaceAll(/\s+/g, ' ').trim()
}

export class ChatChunks {
  private isBegun = false
  private isOver = false
  /** The open text part, and its text so far. */
  private open: string | null = null
  private said = ''
  private parts = 0
  private isReplied = false
  private told: Execution['state'] | null = null
  private status: TurnView['status'] | null = null
  private isClosed = false
  /** The state of the plan that was sent last. */
  private planned: string | null = null

  /** The task that was just answered: the turn will soon stop waiting for it. */
  private answered: TaskId | null = null

  /** Skips what the reader has already: it has seen the turn in this state, and has answered its question. */
  skip(view: TurnView): void {
    this.next(view, null)
    this.isOver = false
    this.answered = view.execution?.task ?? null
  }

  /** True once nothing more will be sent. */
  get isEnded(): boolean {
    return this.isOver
  }

  /** Chunks for text that is still being written. */
  live(view: TurnView, reply: string): readonly Chunk[] {
    if (this.isReplied || reply === '') return []
    return [...this.begin(view), ...this.speak(reply)]
  }

  next(view: TurnView, task: AskedTask | null): readonly Chunk[] {
    if (this.isOver) return []
    return [
      ...this.begin(view),
      ...this.reply(view),
      ...this.plan(view),
      ...this.execution(view, task),
      ...this.closing(view),
      ...this.run(view),
      ...this.end(view),
    ]
  }

  private begin({ id, run, simulated }: TurnView): readonly Chunk[] {
    if (this.isBegun) return []
    this.isBegun = true
    return [{ type: 'start', messageId: id, messageMetadata: { run_id: run, simulated } }, { type: 'start-step' }]
  }

  // -- text -------------------------------------------------------------------------------------------------------------

  /** chunks-1. */
  private speak(text: string): readonly Chunk[] {
    const chunks: Chunk[] = []
    if (this.open !== null && !text.startsWith(this.said)) {
      chunks.push(...this.hush(), { type: 'data-reset-step', data: { attempt: this.parts + 1 } })
    }
    if (this.open === null) {
      this.open = `text-${++this.parts}`
      this.said = ''
      chunks.push({ type: 'text-start', id: this.open })
    }
    const delta = text.slice(this.said.length)
    this.said = text
    return delta === '' ? chunks : [...chunks, { type: 'text-delta', id: this.open, delta }]
  }

  private hush(): readonly Chunk[] {
    if (this.open === null) return []
    const { open } = this
    this.open = null
    return [{ type: 'text-end', id: open }]
  }

  private reply({ reply }: TurnView): readonly Chunk[] {
    if (reply === null || this.isReplied) return []
    this.isReplied = true
    const words = reply === '' ? [] : this.speak(reply)
    return [...words, ...this.hush(), { type: 'finish-step' }]
  }

  private closing({ closing }: TurnView): readonly Chunk[] {
    if (closing === null || this.isClosed) return []
    this.isClosed = true
    return [...this.speak(closing), ...this.hush()]
  }

  // -- execution --------------------------------------------------------------------------------------------------------

  /** A data part with a fixed id: later ones replace it. */
  private plan({ execution }: TurnView): readonly Chunk[] {
    if (execution === null || execution.plan === null) return []
    const { plan, state, run } = execution
    const step = `${state} ${run}`
    if (step === this.planned) return []
    this.planned = step
    return [{ type: 'data-plan', id: 'plan', data: planCard(plan, state, run) }]
  }

  private execution({ id, execution }: TurnView, task: AskedTask | null): readonly Chunk[] {
    if (execution === null || execution.state === this.told) return []
    const toolCallId = `${id}.1`
    const { executor: toolName, input, state } = execution
    const first: readonly Chunk[] =
      this.told === null ? [{ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true }] : []
    this.told = state
    return [...first, ...this.outcome(execution, toolCallId, task)]
  }

  private outcome({ state, output, detail }: Execution, toolCallId: string, task: AskedTask | null): readonly Chunk[] {
    switch (state) {
      case 'waiting':
        if (task === null) return []
        return [
          { type: 'tool-approval-request', approvalId: approvalId(task), toolCallId },
          {
            type: 'data-task',
            id: 'task',
            data: { task_id: task.id, shown_hash: task.hash, url: `/inbox?task=${task.id}` },
          },
        ]
      case 'done':
        return [{ type: 'tool-output-available', toolCallId, output, dynamic: true }]
      case 'failed':
        return [{ type: 'tool-output-error', toolCallId, errorText: detail ?? 'it failed', dynamic: true }]
      case 'denied':
        return [
          { type: 'tool-output-denied', toolCallId },
          { type: 'data-denied', data: { reason: detail } },
        ]
      case 'proposed':
      case 'running':
        return []
    }
  }

  /** A data part with a fixed id: later ones replace it. */
  private run({ run, status, execution }: TurnView): readonly Chunk[] {
    const isNew = status !== this.status || execution?.state === 'running'
    this.status = status
    if (!isNew) return []
    const data = { run_id: run, status, waiting_on: execution?.task ?? null, execution_run: execution?.run ?? null }
    return [{ type: 'data-run', id: 'run', data }]
  }

  // -- the end ----------------------------------------------------------------------------------------------------------

  /** chunks-2. If a turn waits for a person, the stream ends, but not the turn. */
  private end({ status, run, simulated, tokens, error, execution }: TurnView): readonly Chunk[] {
    const about = { run_id: run, simulated }
    switch (status) {
      case 'queued':
      case 'running':
        return []
      case 'failed':
        return this.last({ type: 'error', errorText: userText(error ?? { code: 'INTERNAL', message: 'it failed' }) })
      case 'cancelled':
        return this.last({ type: 'abort' })
      case 'waiting':
        if (execution?.task === this.answered) return []
        return this.last({ type: 'finish', finishReason: 'tool-calls', messageMetadata: about })
      case 'done':
        return this.last({ type: 'finish', finishReason: 'stop', messageMetadata: { ...about, usage: { tokens } } })
    }
  }

  private last(chunk: Chunk): readonly Chunk[] {
    this.isOver = true
    return [...this.hush(), chunk]
  }
}
