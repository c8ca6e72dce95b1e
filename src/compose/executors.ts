/**
 * What executors receive from outside: models, documents, tools, connections to remote executors.
 *
 * Owns that part of the wiring, as assemble.ts owns the rest. Contains no rules; large modules are loaded with the first task that needs them.
 */
import { SystemClock } from '#adapters/system/clock.ts'
import type { BuiltInParts } from '#executors/built-in.ts'
import { NotReached, remoteExecutor } from '#executors/remote.ts'
import type { ToolBroker } from '#executors/workflow/built-in/tool-call.ts'
import { executorHandler, type ServeOptions } from '#http/server/serve-executor.ts'
import type { RemoteDefinition } from '#manifest/define/executors.ts'
import type { System } from '#manifest/define/system.ts'
import { resolveReferences } from '#manifest/expressions/reference.ts'
import { compileRule } from '#manifest/expressions/rules.ts'
import type { Clock } from '#ports/clock.ts'
import type { Executor } from '#ports/executor.ts'
import type { Ids } from '#ports/ids.ts'
import { ownEnvironment } from '#triggers/host.ts'
import type { CodeWorld } from './functions.ts'

export interface ExecutorSettings {
  /** Absent: tasks that need a model fail with a clear error. */
  readonly models?: ExecutorModels
  readonly broker?: ToolBroker
  readonly code?: CodeWorld
}

/** The models of a system, and the check of their answers. */
type ExecutorModels = Pick<BuiltInParts['models'], 'model' | 'nameOf' | 'check'>

const NO_MODELS: ExecutorModels = {
  model: {
    call: async () => ({
      kind: 'failed',
      code: 'MODEL_NOT_FOUND',
      detail: 'this system has no models',
      retryAfterMs: null,
      usage: null,
      text: null,
    }),
  },
  nameOf: (name) => ({ alias: name, provider: '', id: name }),
  check: () => ['this process cannot check it'],
}

/** A remote executor at an address; references in its secret are resolved when it is called. */
export const reach =
  (clock: Clock) =>
  ({ url, secret }: RemoteDefinition): Executor =>
    remoteExecutor(async (message, signal) => {
      const { signedPost } = await import('#adapters/remote/signed-post.ts')
      const unreached = (reason: string): Error => new NotReached(reason)
      const resolved = resolveReferences(secret, ownEnvironment())
      return signedPost({ url, secret: resolved, now: () => clock.now(), unreached })(message, signal)
    })

/**
 * Returns a handler that serves an executor to other systems: it takes a signed Request and returns a Response.
 *
 * ```ts
 * const handle = serveExecutor({ secret: process.env.SECRET, execute: async ({ task }) => ({ status: 'success', result: await work(task) }) })
 * hono.post('/execute', (c) => handle(c.req.raw))
 * ```
 */
export const serveExecutor = (options: ServeOptions): ((request: Request) => Promise<Response>) =>
  executorHandler(options, new SystemClock())

/** Everything that built-in executors need. */
export const builtInParts = (
  system: System,
  ids: Ids,
  { models = NO_MODELS, broker }: ExecutorSettings,
): BuiltInParts => ({
  models: {
    ...models,
    defaultModel: () => system.models.fallback,
    digest: (text) => ids.digest(text),
    ask: (rule, roots) => compileRule(rule, Object.keys(roots))(roots),
  },
  documents: {
    read: async (...asked) => (await import('#adapters/documents/reader.ts')).createDocumentReader().read(...asked),
  },
  ...(broker === undefined ? {} : { broker }),
})
