/**
 * Hook that runs before every tool call of a session: applies the broker's decision, and keeps paths inside the directory.
 *
 * Owns the decisions of that hook, and ends a session that goes on making refused calls. Never lets a tool run because of an error.
 *
 * tool-guard-1  A guard that fails denies the call: the SDK runs the tool if the hook throws.
 * tool-guard-2  After one call was left to us, further calls of that answer are denied: with two, a result would be lost.
 * tool-guard-3  No file tool reaches a path outside the directory, nor one through a link.
 */
import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { ErrorCode } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type { BackendJob } from '#ports/agent-backend.ts'
import type { SdkHook, SdkHookAnswer, SdkHookInput } from './sdk.ts'
import { ownName } from './served.ts'

const MAX_REFUSALS = 5
const PATHS = ['file_path', 'path', 'notebook_path']

/** Ends the session with a reason. */
export type Stop = (code: ErrorCode, detail: string) => void

const isOutside = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
}

const isLink = async (path: string): Promise<boolean> => {
  try {
    const found = await lstat(path)
    return found.isSymbolicLink() || (found.isFile() && found.nlink > 1)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return false
    throw error
  }
}

/** tool-guard-3: checks every part of the path that exists. */
export const leadsOut = async (root: string, given: string): Promise<boolean> => {
  if (given.includes('\0')) return true
  const path = resolve(root, given)
  if (isOutside(root, path)) return true
  const parts = relative(root, path).split(sep)
  for (const [index] of parts.entries()) if (await isLink(join(root, ...parts.slice(0, index + 1)))) return true
  return false
}

const texts = (input: Json, names: readonly string[]): readonly string[] =>
  names.flatMap((name) => {
    const value = (input as { readonly [key: string]: Json } | null)?.[name]
    return typeof value === 'string' ? [value] : []
  })

const strays = async (root: string, tool: string, input: Json): Promise<boolean> => {
  for (const path of texts(input, PATHS)) if (await leadsOut(root, path)) return true
  const patterns = texts(input, tool === 'Glob' ? ['pattern'] : ['glob'])
  return patterns.some((pattern) => isAbsolute(pattern) || pattern.includes('..'))
}

const answer = (permissionDecision: 'allow' | 'deny' | 'defer', reason?: string): SdkHookAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision,
    ...(reason === undefined ? {} : { permissionDecisionReason: reason }),
  },
})

export class Guard {
  private readonly job: Pick<BackendJob, 'judge' | 'native' | 'limits'>
  private readonly root: string
  private readonly stop: Stop
  private refusals = 0
  private hasLeft = false
  /** Number of calls that it has allowed. */
  calls = 0

  constructor(job: Pick<BackendJob, 'judge' | 'native' | 'limits'>, root: string, stop: Stop) {
    this.job = job
    this.root = root
    this.stop = stop
  }

  readonly hook: SdkHook = async (input) => {
    try {
      return await this.answerTo(input)
    } catch (error) {
      // tool-guard-1
      return this.deny(error instanceof Error ? error.message : String(error))
    }
  }

  private async answerTo({ tool_name: given, tool_input }: SdkHookInput): Promise<SdkHookAnswer> {
    if (this.hasLeft) return answer('deny', 'one at a time, call again')
    const input = toJson(tool_input ?? {})
    const own = ownName(given)
    if (own === null && !this.job.native.includes(given)) return this.deny(`you have no tool ${given}`)
    if (own === null && (await strays(this.root, given, input))) return this.deny('the path is outside the workspace')
    const verdict = this.job.judge(own ?? given, input)
    if (verdict.kind === 'refuse') return this.deny(verdict.reason)
    this.calls++
    if (this.calls > this.job.limits.calls) {
      this.stop('AGENT_MAX_TOOL_CALLS', `more than ${this.job.limits.calls} further tool calls`)
      return answer('deny', 'no more calls are allowed')
    }
    if (verdict.kind === 'run') return answer('allow')
    this.hasLeft = true
    // A call that is left to us is counted where it is performed.
    this.calls--
    return answer('defer')
  }

  private deny(reason: string): SdkHookAnswer {
    this.refusals++
    if (this.refusals >= MAX_REFUSALS) this.stop('AGENT_LOOP', `${MAX_REFUSALS} calls were refused`)
    return answer('deny', reason)
  }
}
