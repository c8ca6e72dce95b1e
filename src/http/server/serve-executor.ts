/**
 * The receiving side of a remote executor: takes a signed envelope and returns a result, as a handler of the web's Request and Response.
 *
 * Owns authentication and the timeout. Never retries: the caller does.
 */
import { type ContractExecute, contractExecutor, readEnvelope, writeResult } from '#executors/contract.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Clock } from '#ports/clock.ts'
import type { Envelope, Executor, ExecutorResult } from '#ports/executor.ts'

/** How an executor is served to other systems: `{ secret: process.env.SECRET, execute: async ({ task }) => … }`. */
export interface ServeOptions {
  /** What signs the messages: Base64, with or without `whsec_`. Several while one secret replaces another. */
  readonly secret: string | readonly string[]
  /** Performs one task: takes an envelope, returns its result. It never retries; the caller does. */
  readonly execute: ContractExecute
}

const MAX_BODY = 16 * 1024 * 1024

const respond = (status: number, body: Json): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

const refused = (error: unknown): Response => {
  if (!(error instanceof TrihandError)) throw error
  return respond(error.status, { code: error.code, detail: error.detail, hint: error.hint })
}

const bodyOf = async (request: Request): Promise<Uint8Array> => {
  const body = new Uint8Array(await request.arrayBuffer())
  if (body.byteLength > MAX_BODY) throw new TrihandError('PAYLOAD_TOO_LARGE', `more than ${MAX_BODY} bytes`)
  return body
}

const parsed = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    throw new TrihandError('NOT_JSON', 'the body is not JSON')
  }
}

/** The timeout of the envelope is enforced on this side, too: after it the caller no longer waits. */
const perform = async (execute: Executor['execute'], envelope: Envelope, clock: Clock): Promise<ExecutorResult> => {
  const controller = new AbortController()
  const cancel = clock.at(clock.now() + envelope.constraints.timeoutMs, () => controller.abort())
  try {
    return await execute(envelope, { signal: controller.signal })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { status: 'failed', error: { code: 'EXECUTOR_THREW', message, retryable: true, definite: false } }
  } finally {
    cancel()
  }
}

/** Loaded with the first delivery, so that a process that serves none does not pay for it at its start. */
const loadSignature = () => import('#triggers/signature.ts')

export const executorHandler = ({ secret, execute }: ServeOptions, clock: Clock) => {
  const secrets = typeof secret === 'string' ? [secret] : secret
  return async (request: Request): Promise<Response> => {
    try {
      if (request.method !== 'POST') throw new TrihandError('METHOD_NOT_ALLOWED', 'send a POST')
      const body = await bodyOf(request)
      const { checkStandard } = await loadSignature()
      checkStandard({ headers: Object.fromEntries(request.headers), body }, secrets, clock.now())
      const envelope = readEnvelope(parsed(body))
      return respond(200, writeResult(await perform(contractExecutor(execute), envelope, clock)))
    } catch (error) {
      return refused(error)
    }
  }
}
