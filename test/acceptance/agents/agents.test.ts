/** Agents on every store: instructions, tools, files, structured answers, usage, models that fail. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '#manifest/define/agents.ts'
import type { ToolSource } from '#model/agent/tool-source.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Workspace } from '#ports/tool.ts'
import { agentPlace, beginAgents, ended, stepResults } from '#test/support/agents/agent-system.ts'
import { called, failedWith, lastText, paidModel, said } from '#test/support/agents/agents.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'

const place = agentPlace()
const Match = z.object({ fit: z.number().min(0).max(1), why: z.string() })

onEveryStore('agents', (store) => {
  test('[B1] the instructions of an agent are its CLAUDE.md, and its input is not part of them', async () => {
    place.put('agents/composer/CLAUDE.md', 'Write like a pirate.')
    const model = paidModel(() => said('Arr.'))
    const system = await beginAgents({ agents: [agent('composer')] }, store(), place, model)
    const run = await system.start('composer', { topic: 'sea' })
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'Arr.' })
    expect(model.calls[0]?.system).toMatch(/^Write like a pirate\./)
    expect(model.calls[0]?.system).not.toContain('sea')
    expect(lastText(model.calls[0] as never)).toContain('"topic": "sea"')
    await system.close()
  })

  test('[B1] an agent without instructions fails and names the files that were tried', async () => {
    const system = await beginAgents(
      { agents: [agent('nobody')] },
      store(),
      place,
      paidModel(() => said('?')),
    )
    const run = await system.start('nobody')
    const { error } = await ended(system, run)
    expect(error).toMatchObject({ code: 'PROMPT_MISSING' })
    expect(error?.message).toContain('agents/nobody/CLAUDE.md')
    await system.close()
  })

  test('[B2] a tool that is not on the list is refused, and the model receives the refusal', async () => {
    let ran = 0
    const wipe: ToolSource = { name: 'wipe', effect: 'once', run: () => ++ran }
    const model = paidModel((_, turn) =>
      turn === 0 ? called(['wipe', {}], ['Read', { file_path: 'a' }]) : said('done'),
    )
    const source = { tools: [wipe], agents: [agent('careful', { instructions: 'x', allowedTools: ['Glob'] })] }
    const system = await beginAgents(source, store(), place, model)
    const run = await system.start('careful')
    expect(await ended(system, run)).toMatchObject({ status: 'success' })
    expect(ran).toBe(0)
    expect(model.calls[0]?.tools.map(({ name }) => name)).toEqual(['Glob'])
    expect(lastText(model.calls[1] as never).match(/TOOL_NOT_ALLOWED/g)?.length).toBe(2)
    await system.close()
  })

  test('tool-call-1: a tool that declares no effect cannot change a file', async () => {
    const sly: ToolSource = {
      name: 'sly',
      effect: 'none',
      run: (_: never, { workspace }: { workspace: Workspace }) => workspace.write('a', new Uint8Array([1])),
    }
    const model = paidModel((_, turn) => (turn === 0 ? called(['sly', {}]) : said('done')))
    const source = { tools: [sly], agents: [agent('careful', { instructions: 'x', allowedTools: ['sly'] })] }
    const system = await beginAgents(source, store(), place, model)
    await ended(system, await system.start('careful'))
    expect(lastText(model.calls[1] as never)).toContain('TOOL_FAILED: a tool with effect none may not change a')
    await system.close()
  })

  test('[B3][B5] files come from the system and from rows, and survive the loss of the directory', async () => {
    place.put('static/style.md', 'short sentences')
    const model = paidModel((_, turn) => {
      if (turn === 0) return called(['Read', { file_path: 'lead.json' }], ['Read', { file_path: 'style.md' }])
      if (turn === 1) return called(['Write', { file_path: 'out/mail.md', content: 'Dear Ana' }])
      // The machine with the directory is lost; the ledger is not.
      rmSync(join(place.folder, 'workspaces'), { recursive: true, force: true })
      return turn === 2
        ? called(['Edit', { file_path: 'out/mail.md', old_string: 'Ana', new_string: '$& Bo' }])
        : said('ok')
    })
    const composer = agent('composer', {
      instructions: 'x',
      allowedTools: ['Read', 'Write', 'Edit'],
      contextIn: {
        fromDb: [{ table: 'leads', as: 'lead.json', mustHave: ['name'] }],
        static: [{ source: 'static/style.md', dest: 'style.md' }],
      },
      artifacts: ['out/mail.md', { file: 'notes.md', required: false }],
    })
    const seed = {
      name: 'seed',
      options: {},
      code: ({
        step,
      }: {
        step: { run(name: string, body: (c: { write(t: string, k: string, v: unknown): void }) => void): unknown }
      }) => step.run('put', ({ write }) => write('leads', '7', { id: '7', name: 'Ana' })),
    }
    const system = await beginAgents({ agents: [composer], functions: [seed] }, store(), place, model)
    await ended(system, await system.start('seed'))
    const run = await system.start('composer', { lead_id: '7' })
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'ok' })
    expect(lastText(model.calls[1] as never)).toMatch(/"name": "Ana"[\s\S]*short sentences/)
    const steps = await stepResults(system, run)
    const { artifacts } = steps.get('agent/artifacts') as { artifacts: { path: string; hash: string }[] }
    expect(artifacts).toMatchObject([{ path: 'out/mail.md', bytes: 10, media_type: 'text/markdown' }])
    expect(await system.run(() => system.store.blobs.get(artifacts[0]?.hash ?? ''))).toBe('Dear $& Bo')
    expect(existsSync(join(place.folder, 'workspaces', run))).toBe(false)
    await system.close()
  })
  test('[N9] an agent of a module that lists tools gets no others, whatever it was allowed', async () => {
    const used: string[] = []
    const tool = (name: string) => ({
      name,
      effect: 'none' as const,
      run: () => {
        used.push(name)
        return 'done'
      },
    })
    const model = paidModel((_, turn) => (turn === 0 ? called(['crm__get', {}], ['mail__send', {}]) : said('ok')))
    const writer = agent('writer', { instructions: 'x', module: 'desk', allowedTools: ['crm.get', 'mail.send'] })
    const system = await beginAgents(
      {
        modules: [{ name: 'desk', tools: ['crm.*'] }],
        tools: [tool('crm.get'), tool('mail.send')],
        agents: [writer],
      },
      store(),
      place,
      model,
    )
    expect(await ended(system, await system.start('writer'))).toMatchObject({ status: 'success' })
    expect(used).toEqual(['crm.get'])
    expect(model.calls[0]?.tools.map(({ name }) => name)).toEqual(['crm__get'])
    expect(lastText(model.calls[1] as never)).toContain('TOOL_NOT_ALLOWED')
    await system.close()
  })

  test('[B5] a missing required file is a failure', async () => {
    const writer = agent('writer', { instructions: 'x', artifacts: ['report.md'] })
    const system = await beginAgents(
      { agents: [writer] },
      store(),
      place,
      paidModel(() => said('done')),
    )
    const { error } = await ended(system, await system.start('writer'))
    expect(error).toMatchObject({ code: 'OUTPUT_INVALID', message: expect.stringContaining('report.md') })
    await system.close()
  })

  test('[B4] an answer that does not fit is repaired once, and the model receives only what is wrong', async () => {
    const model = paidModel((_, turn) =>
      turn === 0 ? said('{"fit": 7}') : said('```json\n{"fit": 0.7, "why": "size"}\n```'),
    )
    const matcher = agent('matcher', { instructions: 'x', outputSchema: Match })
    const system = await beginAgents({ agents: [matcher] }, store(), place, model)
    const run = await system.start('matcher', { company: 'Acme' })
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: { fit: 0.7, why: 'size' } })
    expect(model.calls[0]?.output).toMatchObject({ type: 'object', required: ['fit', 'why'] })
    expect(lastText(model.calls[1] as never)).toMatch(/\/fit: must be <= 1/)
    expect(lastText(model.calls[1] as never)).toMatch(/why/)
    await system.close()
  })

  test('[B4] two wrong answers are a failure with two paid calls and the text kept', async () => {
    const model = paidModel(() => said('no idea'))
    const matcher = agent('matcher', { instructions: 'x', outputSchema: Match })
    const system = await beginAgents({ agents: [matcher] }, store(), place, model)
    const { error } = await ended(system, await system.start('matcher'))
    expect(error).toMatchObject({ code: 'OUTPUT_INVALID', message: expect.stringContaining('no idea') })
    expect(model.calls.length).toBe(2)
    await system.close()
  })

  test('[B6][B7] agent-1: each model call records its tokens, price, model and duration', async () => {
    const model = paidModel((_, turn) => (turn === 0 ? called(['Glob', { pattern: '*' }]) : said('done')))
    const counter = agent('counter', { instructions: 'x', allowedTools: ['Glob'] })
    const system = await beginAgents({ agents: [counter] }, store(), place, model)
    const run = await system.start('counter')
    await ended(system, run)
    const steps = await stepResults(system, run)
    expect([...steps.keys()]).toEqual([
      'agent/hydrate',
      'agent/reserve[0]',
      'agent/model[0]',
      'agent/tool[0.0]',
      'agent/reserve[1]',
      'agent/model[1]',
      'agent/artifacts',
    ])
    expect(steps.get('agent/model[1]')).toMatchObject({
      kind: 'reply',
      reply: {
        modelUsed: 'sonnet',
        usage: { input: 100, output: 20 },
        usageSource: 'reported',
        cost: { micros: 200, source: 'test' },
        isSimulated: false,
        ms: expect.any(Number),
      },
    })
    await system.close()
  })

  test('[E3] a truncated answer ends the run as partial, with the text so far', async () => {
    const model = paidModel(() => said('Once upon a', { finish: 'length' }))
    const system = await beginAgents({ agents: [agent('teller', { instructions: 'x' })] }, store(), place, model)
    expect(await ended(system, await system.start('teller'))).toMatchObject({
      status: 'partial',
      output: 'Once upon a',
    })
    await system.close()
  })

  test('[B9] the first model fails until it is given up, the second answers, and both are in the facts', async () => {
    const model = paidModel(({ model: { alias } }) =>
      alias === 'opus' ? failedWith('MODEL_UNAVAILABLE') : said('from the second', { modelUsed: 'haiku-20250929' }),
    )
    const asker = agent('asker', {
      instructions: 'x',
      model: 'opus',
      fallbackModels: ['haiku'],
      limits: { maxRetries: 2 },
    })
    const system = await beginAgents({ agents: [asker] }, store(), place, model)
    const run = await system.start('asker')
    await system.settle()
    await system.crash()
    await system.advance('10m')
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'from the second' })
    expect(model.calls.map(({ model: { alias } }) => alias)).toEqual(['opus', 'opus', 'opus', 'haiku'])
    const steps = await stepResults(system, run)
    expect(steps.get('agent/model[0]')).toMatchObject({ kind: 'failed', failure: { code: 'MODEL_UNAVAILABLE' } })
    expect(steps.get('agent/model[0:4]')).toMatchObject({ kind: 'reply', reply: { model: 'haiku' } })
    await system.close()
  })

  test('[B9][E5] an answer from a model that is not allowed is refused, and its tokens count', async () => {
    const model = paidModel(() => said('hello', { modelUsed: 'opus-cheap-copy' }))
    const strict = agent('strict', { instructions: 'x', model: 'opus' })
    const system = await beginAgents({ agents: [strict] }, store(), place, model)
    const run = await system.start('strict')
    expect((await ended(system, run)).error?.code).toBe('MODEL_NOT_ALLOWED')
    expect((await stepResults(system, run)).get('agent/model[0]')).toMatchObject({ used: { tokens: 120 } })
    await system.close()
  })

  test('[B8] a budget first shortens answers, and then refuses the call before it is made', async () => {
    const model = paidModel((_, turn) => (turn < 3 ? called(['Glob', { pattern: `${turn}*` }]) : said('done')))
    const poor = agent('poor', { instructions: 'x', allowedTools: ['Glob'], limits: { maxCostUsd: 0.0015 } })
    const system = await beginAgents({ agents: [poor] }, store(), place, model)
    const run = await system.start('poor')
    expect((await ended(system, run)).error?.code).toBe('BUDGET_EXCEEDED')
    expect(model.calls.length).toBe(1)
    expect(model.calls[0]?.maxOutputTokens).toBeLessThan(300)
    await system.close()
  })

  test('an event starts an agent, and the event that it sends at its end starts the next', async () => {
    const model = paidModel(({ purpose }) => said(purpose === 'agent:router' ? '{"to": "sales"}' : 'sold'))
    const router = agent('router', {
      instructions: 'x',
      triggers: ['mail.came'],
      outputSchema: z.object({ to: z.string() }),
      emits: [
        { event: 'mail.for_sales', when: 'output.to == "sales"' },
        { event: 'mail.for_support', when: 'output.to == "support"' },
      ],
    })
    const sales = agent('sales', { instructions: 'x', triggers: ['mail.for_sales'] })
    const support = agent('support', { instructions: 'x', triggers: ['mail.for_support'] })
    const system = await beginAgents(
      { events: { 'mail.came': null }, agents: [router, sales, support] },
      store(),
      place,
      model,
    )
    const { runs } = await system.send({ type: 'mail.came', data: { text: 'price?' } })
    await ended(system, runs[0] as never)
    await system.settle()
    expect(model.calls.map(({ purpose }) => purpose)).toEqual(['agent:router', 'agent:sales'])
    await system.close()
  })

  test('[A8] an emit without data of its own has the members that the event declares, for agents as for functions', async () => {
    const model = paidModel(() => said('{"score": 7, "why": "big"}'))
    const scorer = agent('scorer', {
      instructions: 'x',
      triggers: ['lead.came'],
      outputSchema: z.object({ score: z.number(), why: z.string() }),
      emits: ['lead.scored', { event: 'lead.done', data: { all: '{{ output.why }}' } }, 'lead.seen'],
    })
    const events = {
      'lead.came': null,
      'lead.scored': z.object({ lead: z.string(), score: z.number() }),
      'lead.done': null,
      'lead.seen': null,
    }
    const system = await beginAgents({ events, agents: [scorer] }, store(), place, model)
    const { runs } = await system.send({ type: 'lead.came', data: { lead: 'l1', score: 1, size: 3 } })
    await ended(system, runs[0] as never)
    const told = await system.run(() =>
      system.store.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 9 }),
    )
    expect(Object.fromEntries(told.map(({ type, data }) => [type, data]))).toMatchObject({
      'lead.scored': { lead: 'l1', score: 7 },
      'lead.done': { all: 'big' },
      'lead.seen': { score: 7, why: 'big' },
    })
    await system.close()
  })

  test('without a key every model is simulated: answers come from scripts, cost nothing and are marked as simulated', async () => {
    const scripts = {
      composer: {
        answers: [
          { turn: 1, contains: ['Hello'], calls: [{ tool: 'Glob', input: { pattern: '*' } }] },
          { after: 'Glob', say: 'I found {{ result }}.' },
        ],
      },
    }
    const composer = agent('composer', { instructions: 'x', allowedTools: ['Glob'], limits: { maxCostUsd: 0.01 } })
    const system = await beginAgents({ agents: [composer], scripts }, store(), place, null)
    const run = await system.start('composer', 'Hello')
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'I found no files.' })
    expect((await stepResults(system, run)).get('agent/model[0]')).toMatchObject({
      reply: {
        isSimulated: true,
        cost: { micros: 0, source: 'simulated' },
        modelUsed: expect.stringMatching(/^simulated\/composer@/),
      },
    })
    const lost = await system.start('composer', 'Goodbye')
    expect((await ended(system, lost)).error).toMatchObject({
      code: 'SIMULATED_NO_SCRIPT',
      message: expect.stringContaining('Goodbye'),
    })
    await system.close()
  })
})
