/**
 * The wiring of workflow functions: how their code is entered, and the guarded fetch that each gets by its module.
 *
 * Owns which function gets which. Contains no rules: who may call which host is model/access/outbound.ts.
 */
import { resolve } from 'node:path'
import type { IsolatedProcesses, IsolationOptions } from '#adapters/isolation/pool.ts'
import { guardGlobalFetch, standardFetch, withFetch } from '#adapters/tools/function-fetch.ts'
import type { Network } from '#adapters/tools/guarded-connect.ts'
import type { FetchPolicy } from '#adapters/tools/guarded-fetch.ts'
import { type EnterOptions, enterFunction } from '#executors/workflow/function.ts'
import { enterIsolated } from '#executors/workflow/isolated.ts'
import { codeFileOf } from '#manifest/define/code-file.ts'
import type { System } from '#manifest/define/system.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import { taskOfStep } from '#manifest/human/humans.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { type CodeLimits, requireHost } from '#model/access/outbound.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Call, CodeProcesses } from '#ports/code-process.ts'
import type { Abort } from '#ports/executor.ts'
import type { Entry, StepContext, StepPort } from '#ports/step-port.ts'
import type { RawRequest, ToolContext } from '#ports/tool.ts'

/** The network as functions see it: tests replace it. */
export interface Outside extends Pick<FetchPolicy, 'ports'> {
  readonly network?: Network
}

/** Code may wait for a slow answer; a step has its own timeout. */
const TIMEOUT_MS = 60_000

const policyFor = (limits: CodeLimits, { ports }: Outside): FetchPolicy => ({
  allowsHost: (host) => {
    requireHost(limits, host)
    return true
  },
  timeoutMs: TIMEOUT_MS,
  ...(ports === undefined ? {} : { ports }),
})

/** Loaded by the first request. */
const way = () => import('#adapters/tools/guarded-fetch.ts')

const fetchFor =
  (outside: Outside) =>
  (limits: CodeLimits): ToolContext['fetch'] =>
  async (...asked) =>
    (await way()).guardedFetch(policyFor(limits, outside), outside.network)(...asked)

const requestFor =
  (outside: Outside) =>
  (limits: CodeLimits): RawRequest =>
  async (...asked) =>
    (await way()).guardedRequest(policyFor(limits, outside), outside.network)(...asked)

type Body = (context: StepContext) => unknown

/** The same gate, but step bodies run guarded: the engine calls them outside of the async context of the function's code. */
const guardedGate = (gate: StepPort, guarded: <T>(work: () => T) => T): StepPort => {
  const wrapped =
    (body: Body): Body =>
    (context) =>
      guarded(() => body(context))
  const run: StepPort['run'] = (request) =>
    gate.run({
      ...request,
      body: wrapped(request.body),
      fallback: request.fallback === undefined ? undefined : wrapped(request.fallback),
    })
  return new Proxy(gate, {
    get: (target, name) => {
      if (name === 'run') return run
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

type EnterFunction = (entry: Entry, options: EnterOptions, abort: Abort) => unknown

/** Makes `fetch` the guarded one throughout the code of a module. */
const withGuardedFetch =
  (enter: EnterFunction, outside: Outside): EnterFunction =>
  (entry, options, abort) => {
    if (options.module === null) return enter(entry, options, abort)
    const fetch = standardFetch(requestFor(outside)(options))
    const guarded = <T>(work: () => T): T => withFetch(fetch, work)
    return guarded(() => enter(entry.behind(guardedGate(entry.gate, guarded)), options, abort))
  }

/** Call this before loading code that may keep a reference to `fetch`. */
export const guardFetch = (isNeeded: boolean): void => {
  if (isNeeded) guardGlobalFetch()
}

const BODY = 'base64'

/** The HTTP requests that code in another process makes, and their answers; bodies are text. */
const httpFor =
  (outside: Outside) =>
  async (limits: CodeLimits, asked: Call, signal: AbortSignal): Promise<Json> => {
    const { url, method = 'GET', headers = {}, redirect = 'follow', body } = asked
    const { bytes, ...answer } = await requestFor(outside)(limits)(String(url), {
      method: String(method),
      headers: Object.fromEntries(Object.entries(headers as object).map(([name, value]) => [name, String(value)])),
      redirect: redirect as 'follow',
      signal,
      ...(typeof body === 'string' ? { body: Buffer.from(body, BODY) } : {}),
    })
    return { ...answer, headers: answer.headers.map((pair) => [...pair]), body: Buffer.from(bytes).toString(BODY) }
  }

/** The processes for code of isolated modules: `{ processes: 2, idle: '5m' }`. */
export interface IsolationSettings extends Pick<IsolationOptions, 'processes' | 'memoryMb' | 'node'> {
  /** How long a process may be idle before it is ended. Default: 1m. */
  readonly idle?: string | number
  /** How long a process may stay unresponsive in the middle of its work before it is ended. Default: 10s. */
  readonly hang?: string | number
}

/** What code needs of its surroundings. */
export interface CodeWorld {
  readonly outside?: Outside
  readonly environment?: Environment
  /** Absent: isolated code cannot run here. */
  readonly isolation?: CodeProcesses
}

export interface IsolationRuntime extends CodeProcesses {
  /** The system was replaced: files are read again. */
  refresh(): void
  close(): void
}

/** Loaded when the first isolated function is entered. */
export const lazyIsolation = ({ idle = '1m', hang = '10s', ...rest }: IsolationSettings = {}): IsolationRuntime => {
  const options = { ...rest, idleMs: durationMs(idle), hangMs: durationMs(hang) }
  let opened: IsolatedProcesses | null = null
  return {
    acquire: async (...asked) => {
      const { IsolatedProcesses } = await import('#adapters/isolation/pool.ts')
      opened ??= new IsolatedProcesses(options)
      return opened.acquire(...asked)
    },
    refresh: () => opened?.refresh(),
    close: () => opened?.close(),
  }
}

const isolatedHand = (
  { isolation, outside = {} }: CodeWorld,
  folder: string | null,
  enter: EnterFunction,
): EnterFunction => {
  if (isolation === undefined) return enter
  const enterElsewhere = enterIsolated({ processes: isolation, http: httpFor(outside) }, enter)
  return (entry, options, abort) => {
    const code = codeFileOf(options.code)
    const own = options.module?.isolation
    if (code === null || own === undefined) return enter(entry, options, abort)
    return enterElsewhere(entry, options, abort, { code, isolation: { folder: resolve(folder ?? '.', own.folder) } })
  }
}

/** Returns how a workflow function is entered. */
export const functionEntrance = ({ functions, folder }: System, world: CodeWorld): EnterFunction => {
  const { outside = {}, environment } = world
  guardFetch([...functions.values()].some(({ module }) => module !== null))
  const enter = enterFunction({
    parse: durationMs,
    taskOf: taskOfStep,
    fetchFor: fetchFor(outside),
    ...(environment === undefined ? {} : { secret: (name: string) => environment[name] ?? null }),
  })
  return isolatedHand(world, folder, withGuardedFetch(enter, outside))
}
