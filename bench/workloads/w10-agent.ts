/**
 * W10: the cost of an agent compared with the bare calls to its model. A provider on this machine answers at once over real HTTP; the same
 * adapter calls it with and without the durable run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTrihand } from '#compose/assemble.ts'
import { modelsFor } from '#compose/models.ts'
import { agent } from '#manifest/define/agents.ts'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import type { Json } from '#model/kernel/json.ts'
import type { ModelRequest } from '#ports/model.ts'
import { startAnthropicStub } from '#testing/stubs/anthropic-stub.ts'
import type { StubBlock, StubBody } from '#testing/stubs/model-stub.ts'
import { withEnvironment } from '../environment.ts'
import { type Measurement, median } from '../report.ts'
import type { BenchLedger } from '../target.ts'

const CALLS = 5
const AGENTS = 30
const WARM_UP = 5

const turnOf = ({ messages }: StubBody): number =>
  (messages as readonly { readonly role: string }[]).filter(({ role }) => role === 'assistant').length

/** Every turn but the last calls a tool. */
const script = (body: StubBody): readonly StubBlock[] =>
  turnOf(body) < CALLS - 1
    ? [{ type: 'call', name: 'look', input: { n: turnOf(body) } }]
    : [{ type: 'text', text: 'This is what I have found.' }]

const systemAt = (url: string): SystemSource => ({
  name: 'bench-agent',
  models: { default: 'stub', aliases: { stub: { id: 'claude-stub', provider: 'anthropic', baseUrl: url } } },
  tools: [{ name: 'look', description: 'Looks.', effect: 'none', run: (input: Json) => input }],
  agents: [agent('worker', { instructions: 'Look around, then say what you found.', allowedTools: ['look'] })],
})

const ENVIRONMENT = { ANTHROPIC_API_KEY: 'stub' }

/** One call at a time, as an agent makes them. */
const rawCall = async (source: SystemSource): Promise<number> => {
  const system = normalise(source, (text) => text)
  const { model, nameOf } = modelsFor(system, ENVIRONMENT, { call: () => Promise.reject(new Error('not simulated')) })
  const request: ModelRequest = {
    model: nameOf('stub'),
    system: 'Look around, then say what you found.',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Do your work.' }] }],
    tools: [{ name: 'look', description: 'Looks.', input: { type: 'object' } }],
    output: null,
    maxOutputTokens: 1_000,
    temperature: null,
    purpose: 'bench',
    attempt: 1,
  }
  const times: number[] = []
  for (let i = 0; i < (AGENTS + WARM_UP) * CALLS; i++) {
    const began = performance.now()
    const { kind } = await model.call(request, new AbortController().signal)
    if (kind !== 'reply') throw new Error('the model did not answer')
    times.push(performance.now() - began)
  }
  return median(times.slice(WARM_UP * CALLS))
}

const agentCall = async (ledger: BenchLedger, source: SystemSource): Promise<number> => {
  const place = ledger.fresh()
  const workspaces = mkdtempSync(join(tmpdir(), 'trihand-bench-'))
  const app = await createTrihand({
    system: source,
    database: place.database,
    ...(place.schema === null ? {} : { schema: place.schema }),
    drain: 0,
    agents: { workspaces },
  })
  const times: number[] = []
  for (let i = 0; i < AGENTS + WARM_UP; i++) {
    const began = performance.now()
    const { status, error } = await app.result(await app.start('worker', { n: i }))
    if (status !== 'success') throw new Error(`the agent ended with ${status}: ${error?.message}`)
    times.push((performance.now() - began) / CALLS)
  }
  await app.close()
  await place.remove()
  rmSync(workspaces, { recursive: true, force: true })
  return median(times.slice(WARM_UP))
}

export const agentOverhead = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const stub = await startAnthropicStub({ script })
  try {
    const source = systemAt(stub.url)
    const raw = await withEnvironment(ENVIRONMENT, () => rawCall(source))
    const value = await withEnvironment(ENVIRONMENT, () => agentCall(ledger, source))
    return [
      { metric: 'agent, per model call with a tool', value, unit: 'ms', raw },
      { metric: 'agent, added to each model call', value: value - raw, unit: 'ms' },
    ]
  } finally {
    await stub.close()
  }
}
