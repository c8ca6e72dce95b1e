/** Agent runs that failed and are retried: earlier failures do not count against them, but what they spent does. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '#manifest/define/agents.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { agentPlace, beginAgents, ended } from '#test/support/agents/agent-system.ts'
import { called, failedWith, lastText, paidModel, said } from '#test/support/agents/agents.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import type { TestSystem } from '#testing/system.ts'

const place = agentPlace()

const retry = async (system: TestSystem, run: RunId) => {
  await system.run(() => system.engine.retry(run, 'ana'))
  return ended(system, run)
}

onEveryStore('agents after a retry', (store) => {
  test('[B1] agent-state-2: a model that was unavailable is called again by every retry, until it answers (14.1.3)', async () => {
    let isAway = true
    const model = paidModel(() => (isAway ? failedWith('MODEL_AUTH') : said('Arr.')))
    const system = await beginAgents({ agents: [agent('writer', { instructions: 'x' })] }, store(), place, model)
    const run = await system.start('writer')
    expect(await ended(system, run)).toMatchObject({ status: 'failed' })
    const perLife = model.calls.length
    for (let life = 1; life <= 3; life++) {
      expect(await retry(system, run)).toMatchObject({ status: 'failed' })
      expect(model.calls.length).toBe(perLife * (life + 1))
    }
    isAway = false
    expect(await retry(system, run)).toMatchObject({ status: 'success', output: 'Arr.' })
    await system.close()
  })

  test('[B1] a retry continues after the last answer, and a crash in it changes nothing (14.1.3)', async () => {
    let isAway = true
    const model = paidModel((_, turn) =>
      turn === 0 ? called(['Glob', { pattern: '*' }]) : isAway ? failedWith('MODEL_AUTH') : said('done'),
    )
    const source = { agents: [agent('writer', { instructions: 'x', allowedTools: ['Glob'] })] }
    const system = await beginAgents(source, store(), place, model)
    const run = await system.start('writer')
    expect(await ended(system, run)).toMatchObject({ status: 'failed' })
    expect(await retry(system, run)).toMatchObject({ status: 'failed' })
    isAway = false
    const before = model.calls.length
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.crash()
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: 'done' })
    // Calls that were answered are not repeated; a call that the crash cut off may be.
    expect(model.calls.length - before).toBeLessThanOrEqual(2)
    expect(model.calls.slice(before).every(({ messages }) => messages.length > 1)).toBe(true)
    await system.close()
  })

  test('an agent that used up its turns has as many again after a retry (14.1.3)', async () => {
    const model = paidModel((_, turn) => (turn < 3 ? called(['Glob', { pattern: `*${turn}` }]) : said('done')))
    const source = { agents: [agent('writer', { instructions: 'x', allowedTools: ['Glob'], limits: { maxTurns: 2 } })] }
    const system = await beginAgents(source, store(), place, model)
    const run = await system.start('writer')
    expect(await ended(system, run)).toMatchObject({ status: 'failed', error: { code: 'AGENT_MAX_TURNS' } })
    expect(await retry(system, run)).toMatchObject({ status: 'success', output: 'done' })
    expect(model.calls).toHaveLength(4)
    await system.close()
  })

  test('[B4] after a retry the model is asked again for an answer that fits, with two tries and the reason of the failure (14.1.3)', async () => {
    const model = paidModel((_, turn) => said(turn < 3 ? '{"fit": 7}' : '{"fit": 1}'))
    const output = z.object({ fit: z.number().max(1) })
    const system = await beginAgents(
      { agents: [agent('judge', { instructions: 'x', outputSchema: output })] },
      store(),
      place,
      model,
    )
    const run = await system.start('judge')
    expect(await ended(system, run)).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_INVALID' } })
    expect(await retry(system, run)).toMatchObject({ status: 'success', output: { fit: 1 } })
    expect(lastText(model.calls[2] as never)).toContain('does not fit its schema')
    await system.close()
  })

  test('[B9] what was spent before a retry counts against the budget after it (14.1.3)', async () => {
    const model = paidModel((_, turn) => said(`{"fit": ${7 + turn}}`))
    const output = z.object({ fit: z.number().max(1) })
    const limits = { maxTokens: 1_500, maxOutputTokens: 300 }
    const system = await beginAgents(
      { agents: [agent('judge', { instructions: 'x', outputSchema: output, limits })] },
      store(),
      place,
      model,
    )
    const run = await system.start('judge')
    let last = await ended(system, run)
    for (let i = 0; i < 8 && last.error?.code !== 'BUDGET_EXCEEDED'; i++) last = await retry(system, run)
    expect(last.error?.code).toBe('BUDGET_EXCEEDED')
    const paid = model.calls.length
    expect((await retry(system, run)).error?.code).toBe('BUDGET_EXCEEDED')
    expect(model.calls).toHaveLength(paid)
    await system.close()
  })
})
