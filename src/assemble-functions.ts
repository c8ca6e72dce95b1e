/**
 * The wiring of workflow functions: how their code is entered, and the guarded way out that it has by its module.
 *
 * Owns which function gets which. Holds no rule: who may call which host is model/outbound.ts.
 */
import { guardGlobalFetch, standardFetch, withFetch } from './adapters/tools/function-fetch.ts'
import type { Network } from './adapters/tools/guarded-connect.ts'
import type { FetchPolicy, GuardedRequest } from './adapters/tools/guarded-fetch.ts'
import { type EnterOptions, enterFunction } from './executors/workflow/function.ts'
import { durationMs } from './manifest/duration.ts'
import { taskOfStep } from './manifest/humans.ts'
import type { System } from './manifest/system.ts'
import { type CodeLimits, demandHost } from './model/outbound.ts'
import type { Abort } from './ports/executor.ts'
import type { Entry, StepContext, StepGate } from './ports/step-gate.ts'
import type { ToolContext } from './ports/tool.ts'

/** What stands for the world: tests have another. */
export interface Outside extends Pick<FetchPolicy, 'ports'> {
  readonly network?: Network
}

/** Code may wait for a slow answer; a step has a timeout of its own. */
const TIMEOUT_MS = 60_000

const policyFor = (limits: CodeLimits, { ports }: Outside): FetchPolicy => ({
  allowsHost: (host) => {
    demandHost(limits, host)
    return true
  },
  timeoutMs: TIMEOUT_MS,
  ...(ports === undefined ? {} : { ports }),
})

/** Loaded by the first request. */
const way = () => import('./adapters/tools/guarded-fetch.ts')

const fetchFor =
  (outside: Outside) =>
  (limits: CodeLimits): ToolContext['fetch'] =>
  async (...asked) =>
    (await way()).guardedFetch(policyFor(limits, outside), outside.network)(...asked)

const requestFor =
  (outside: Outside) =>
  (limits: CodeLimits): GuardedRequest =>
  async (...asked) =>
    (await way()).guardedRequest(policyFor(limits, outside), outside.network)(...asked)

type Body = (context: StepContext) => unknown

/** The same gate; bodies of steps are called by the engine, from outside of what the code of the function stands in. */
const guardedGate = (gate: StepGate, guarded: <T>(work: () => T) => T): StepGate => {
  const wrapped =
    (body: Body): Body =>
    (context) =>
      guarded(() => body(context))
  const run: StepGate['run'] = (request) =>
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

/** Code of a module has the guarded fetch wherever it says `fetch`. */
const withGuardedFetch =
  (enter: EnterFunction, outside: Outside): EnterFunction =>
  (entry, options, abort) => {
    if (options.module === null) return enter(entry, options, abort)
    const fetch = standardFetch(requestFor(outside)(options))
    const guarded = <T>(work: () => T): T => withFetch(fetch, work)
    return guarded(() => enter(entry.behind(guardedGate(entry.gate, guarded)), options, abort))
  }

/** Before code is loaded that may keep `fetch`. */
export const guardFetch = (isNeeded: boolean): void => {
  if (isNeeded) guardGlobalFetch()
}

/** How a workflow function is entered. */
export const workflowHand = ({ functions }: System, outside: Outside = {}): EnterFunction => {
  guardFetch([...functions.values()].some(({ module }) => module !== null))
  return withGuardedFetch(
    enterFunction({ parse: durationMs, taskOf: taskOfStep, fetchFor: fetchFor(outside) }),
    outside,
  )
}
