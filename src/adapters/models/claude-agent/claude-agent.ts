/**
 * The public entry `trihand/claude-agent`: the Claude Agent SDK as the harness of an agent (`config.backend: claude-agent`).
 *
 * Owns where a session resumes: at its beginning, with the result it waits for, or with what a lost attempt has left. One query is
 * query.ts. The SDK is loaded by the first query; without it the error says how to install it.
 *
 * claude-agent-1  An answer that a lost attempt had received is not requested again.
 */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentBackend, BackendFactory, BackendJob, BackendPlace, BackendReply } from '#ports/agent-backend.ts'
import { answeredWith, failedWith, leftTo, thrownAs } from './outcome.ts'
import { Place } from './place.ts'
import { ask, type Opening } from './query.ts'
import { type ClaudeSdk, type Entry, loadSdk } from './sdk.ts'
import { linesOf, parseLines, savedCost, type Tail, tailOf, usageBetween, withResult } from './transcript.ts'

export interface ClaudeAgentOptions {
  /** Loads the SDK. Default: imports the package of its name. */
  readonly load?: () => Promise<ClaudeSdk>
}

const KEY = /^[A-Za-z0-9_-]{1,128}$/

const uuidOf = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The transcript of the session when this turn began. */
const entriesBefore = ({ start, session, turn }: BackendJob): readonly Entry[] => {
  if (start.kind === 'task') return []
  const entries = parseLines(start.transcript)
  return start.kind === 'say' ? entries : withResult(entries, start.result, uuidOf(`${session}\n${turn}`))
}

/** claude-agent-1: an attempt may have been lost after its answer had arrived. */
const replyFrom = (tail: Tail, before: readonly Entry[], all: readonly Entry[], model: string): BackendReply | null => {
  if (tail.kind !== 'left' && tail.kind !== 'answered') return null
  const usage = usageBetween(before, all)
  const used = tail.model ?? model
  const reply = tail.kind === 'left' ? leftTo(tail.call, '', used, usage) : answeredWith(tail.text, used, usage)
  const costUsd = savedCost(all).usd - savedCost(before).usd
  return { reply, transcript: linesOf(all), turns: 0, calls: 0, costUsd, isResumed: true }
}

const openingOf = ({ start }: BackendJob, hasBegun: boolean): Opening => {
  if (hasBegun || start.kind === 'result') return { kind: 'go_on' }
  return start.kind === 'task' ? { kind: 'begin', text: start.text } : { kind: 'say', text: start.text }
}

class ClaudeAgent implements AgentBackend {
  private readonly place: BackendPlace
  private readonly load: () => Promise<ClaudeSdk>

  constructor(place: BackendPlace, load: () => Promise<ClaudeSdk>) {
    this.place = place
    this.load = load
  }

  async work(job: BackendJob, signal: AbortSignal): Promise<BackendReply> {
    try {
      return await this.attempt(job, signal)
    } catch (error) {
      const reply = failedWith(thrownAs(error), null, '')
      return { reply, transcript: null, turns: 0, calls: 0, costUsd: null, isResumed: false }
    }
  }

  async forget(key: string): Promise<void> {
    await rm(this.folder(key), { recursive: true, force: true })
  }

  private folder(key: string): string {
    if (!KEY.test(key)) throw new Error(`"${key}" is not a session`)
    return join(this.place.root, key)
  }

  private async attempt(job: BackendJob, signal: AbortSignal): Promise<BackendReply> {
    const sdk = await this.load()
    const place = new Place(this.folder(job.key), job.turn)
    const before = entriesBefore(job)
    const left = await place.left()
    const hasBegun = tailOf(left).kind !== 'empty'
    if (!hasBegun) await place.lay(job.workspace)
    const all = hasBegun ? [...before, ...left] : before
    const ready = hasBegun ? replyFrom(tailOf(all), before, all, job.model) : null
    const opening = openingOf(job, hasBegun)
    const { environment } = this.place
    const done = ready ?? (await ask({ sdk, job, place, environment, opening, all }, signal))
    await place.gather(job.workspace)
    return { ...done, isResumed: hasBegun }
  }
}

/** Harness for agents whose definition names `claude-agent`. */
export const claudeAgent =
  ({ load = loadSdk }: ClaudeAgentOptions = {}): BackendFactory =>
  (place) =>
    new ClaudeAgent(place, load)
