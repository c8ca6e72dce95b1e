/**
 * Streams the partial answers of steps under way to the listeners of their run.
 *
 * Owns the chunks of attempts under way in this process, and forgets them with the attempt: the fact that follows is the truth. Never
 * writes anything: nothing here survives a crash, after which the step begins again and streams its text anew.
 *
 * token-stream-1  A listener that joins late gets what was streamed so far first, and every later chunk once and in order.
 * token-stream-2  A chunk says how much of its kind came before it in its attempt, so that text that is put at its position is never doubled.
 * token-stream-3  No chunk holds a secret or the beginning of one; the end of an attempt releases what was held back.
 */
import type { RunId } from '#model/kernel/ids.ts'
import type { RedactedStream, Redaction } from '#model/kernel/redaction.ts'
import type { Chunk } from '#ports/model.ts'

/** A part of a model's answer while it arrives, as `subscribe('tokens', …)` gives it. The first holds what has arrived so far. */
export interface TokenChunk {
  /** The run. */
  readonly run: RunId
  /** The step that asks the model. */
  readonly step: string
  /** Which attempt of the step, from 1. A new attempt streams its text anew. */
  readonly attempt: number
  /** `text`, `reasoning`, or `call`: the model calls a tool. */
  readonly type: Chunk['type']
  /** How many characters came before it; for a call, how many calls. */
  readonly at: number
  /** The text; for a call, the name of its tool. */
  readonly text: string
}

export type ChunkListener = (chunk: TokenChunk) => void

interface Streamed {
  readonly attempt: number
  text: string
  reasoning: string
  /** Hold back what may be the beginning of a secret. */
  readonly streams: { readonly text: RedactedStream; readonly reasoning: RedactedStream }
  readonly calls: string[]
}

export class TokenStream {
  private readonly underWay = new Map<RunId, Map<string, Streamed>>()
  private readonly listeners = new Map<RunId, Set<ChunkListener>>()
  private readonly redaction: Pick<Redaction, 'stream'>

  constructor(redaction: Pick<Redaction, 'stream'>) {
    this.redaction = redaction
  }

  tell(run: RunId, step: string, attempt: number, part: Chunk): void {
    const streamed = this.streamedOf(run, step, attempt)
    const about = { run, step, attempt, type: part.type }
    if (part.type === 'call') {
      const chunk = { ...about, at: streamed.calls.length, text: part.tool }
      streamed.calls.push(part.tool)
      return this.pass(chunk)
    }
    this.passText({ ...about, type: part.type }, streamed, streamed.streams[part.type].push(part.text))
  }

  /** The attempt is over: its answer is in its fact, or nowhere. */
  over(run: RunId, step: string): void {
    // Called for every step, and almost no step streams anything.
    if (this.underWay.size === 0) return
    const steps = this.underWay.get(run)
    const streamed = steps?.get(step)
    if (steps === undefined || streamed === undefined) return
    for (const type of ['reasoning', 'text'] as const)
      this.passText({ run, step, attempt: streamed.attempt, type }, streamed, streamed.streams[type].end())
    steps.delete(step)
    if (steps.size === 0) this.underWay.delete(run)
  }

  /** token-stream-1. */
  listen(run: RunId, listener: ChunkListener): () => void {
    for (const [step, streamed] of this.underWay.get(run) ?? [])
      for (const chunk of soFar(run, step, streamed)) pass(listener, chunk)
    const listeners = this.listeners.get(run) ?? new Set()
    this.listeners.set(run, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.listeners.get(run) === listeners) this.listeners.delete(run)
    }
  }

  private streamedOf(run: RunId, step: string, attempt: number): Streamed {
    const steps = this.underWay.get(run) ?? new Map<string, Streamed>()
    this.underWay.set(run, steps)
    const known = steps.get(step)
    if (known?.attempt === attempt) return known
    const streams = { text: this.redaction.stream(), reasoning: this.redaction.stream() }
    const begun = { attempt, text: '', reasoning: '', streams, calls: [] }
    steps.set(step, begun)
    return begun
  }

  private passText(
    about: Pick<TokenChunk, 'run' | 'step' | 'attempt'> & { readonly type: 'text' | 'reasoning' },
    streamed: Streamed,
    text: string,
  ): void {
    if (text === '') return
    const chunk = { ...about, at: streamed[about.type].length, text }
    streamed[about.type] += text
    this.pass(chunk)
  }

  private pass(chunk: TokenChunk): void {
    for (const listener of this.listeners.get(chunk.run) ?? []) pass(listener, chunk)
  }
}

const pass = (listener: ChunkListener, chunk: TokenChunk): void => {
  try {
    listener(chunk)
  } catch {
    // A failing listener must disturb neither the step nor the caller who subscribes.
  }
}

const soFar = (run: RunId, step: string, { attempt, text, reasoning, calls }: Streamed): readonly TokenChunk[] => {
  const about = { run, step, attempt, at: 0 }
  return [
    ...(reasoning === '' ? [] : [{ ...about, type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' ? [] : [{ ...about, type: 'text' as const, text }]),
    ...calls.map((tool, at) => ({ ...about, type: 'call' as const, at, text: tool })),
  ]
}
