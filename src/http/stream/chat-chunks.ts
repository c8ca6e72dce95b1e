/**
 * A turn as the AI SDK's UI message stream (v1) spells it: what a reader must still be told to see the turn as it stands.
 *
 * Owns the chunks and what has been sent. Written by hand: no client library is on the server.
 *
 * chunks-1  Text that was sent is never sent again: words are added, or the part is dropped and begun anew.
 * chunks-2  The end is told after the answer was saved, or after it is known that there will be none.
 */
import { planCard } from '#http/wire/plan.ts'
import type { Execution, TurnView } from '#model/chat/turn.ts'
import { ERRORS, isErrorCode } from '#model/kernel/errors.ts'
import type { TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

export type Chunk = { readonly type: string } & { readonly [member: string]: Json | undefined }

/** What a person is asked, as the stream names it. */
export interface AskedTask {
  readonly id: TaskId
  readonly hash: string
}

/** A foreign client's answer names what it saw. */
const approvalId = ({ id, hash }: AskedTask): string => `${id}.${hash}`

const userText = ({ code, message }: { readonly code: string; readonly message: string }): string => {
  const hint = isErrorCode(code) ? ERRORS[code].hint : ''
  return `${message} ${hint} (${code})`.replaceAll(/\s+/g, ' ').trim()
}

export class ChatChunks {
  private isBegun = false
  private isOver = false
  /** The text part that is open, and what it says. */
  private open: string | null = null
  private said = ''
  private parts = 0
  private isReplied = false
  private told: Execution['state'] | null = null
  private status: TurnView['status'] | null = null
  private isClosed = false
  /** What was last told of the plan. */
  private planned: string | null = null

  /** A question that was answered a moment ago: the turn will not wait for it much longer. */
  private answered: TaskId | null = null

  /** The reader has seen the turn as it stood here, and has answered what it asked. */
  skip(view: TurnView): void {
    this.next(view, null)
    this.isOver = false
    this.answered = view.execution?.task ?? null
  }

  /** Nothing more will be told. */
  get isEnded(): boolean {
    return this.isOver
  }

  /** Words that are still being written. */
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

  // -- words ------------------------------------------------------------------------------------------------------------

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

  // -- what is done -----------------------------------------------------------------------------------------------------

  /** One part that later ones replace. */
  private plan({ execution }: TurnView): readonly Chunk[] {
    if (execution === null || execution.plan === null) return []
    const { plan, state, run } = execution
    const changeFeed = `${state} ${run}`
    if (changeFeed === this.planned) return []
    this.planned = changeFeed
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

  /** One part that later ones replace. */
  private run({ run, status, execution }: TurnView): readonly Chunk[] {
    const isNew = status !== this.status || execution?.state === 'running'
    this.status = status
    if (!isNew) return []
    const data = { run_id: run, status, waiting_on: execution?.task ?? null, execution_run: execution?.run ?? null }
    return [{ type: 'data-run', id: 'run', data }]
  }

  // -- the end ----------------------------------------------------------------------------------------------------------

  /** chunks-2. A turn that waits for a person ends the stream, not the turn. */
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
