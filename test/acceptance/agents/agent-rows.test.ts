/** Rows of managed tables in an agent's workspace: by a key, by conditions, by fields of the input; never a whole table. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { agent } from '#manifest/define/agents.ts'
import type { Json } from '#model/kernel/json.ts'
import { agentPlace, beginAgents, ended } from '#test/support/agents/agent-system.ts'
import { called, lastText, paidModel, said } from '#test/support/agents/agents.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'

const place = agentPlace()

const LEADS = [
  { id: '1', name: 'Ana', city: 'Oslo', score: 3 },
  { id: '2', name: 'Bo', city: 'Rome', score: 9 },
  { id: '3', name: 'Cy', city: 'Oslo', score: 8 },
  { id: '4', name: 'Di', city: 'Oslo', score: 5 },
]

const seed = fn('seed', {}, async ({ step }) => {
  await step.run('put', ({ write }) => {
    for (const lead of LEADS) write('leads', lead.id, lead)
  })
})

type Rows = NonNullable<NonNullable<Parameters<typeof agent>[1]>['contextIn']>['fromDb']

onEveryStore('rows of an agent', (store) => {
  const seen = async (rows: Omit<NonNullable<Rows>[number], 'table' | 'as'>, input: Json) => {
    const model = paidModel((_, turn) => (turn === 0 ? called(['Read', { file_path: 'leads.json' }]) : said('ok')))
    const reader = agent('reader', {
      instructions: 'x',
      allowedTools: ['Read'],
      contextIn: { fromDb: [{ table: 'leads', as: 'leads.json', ...rows }] },
    })
    const system = await beginAgents({ agents: [reader], functions: [seed] }, store(), place, model)
    await ended(system, await system.start('seed'))
    const { error } = await ended(system, await system.start('reader', input))
    const text = model.calls[1] === undefined ? '' : lastText(model.calls[1])
    await system.close()
    return error?.code ?? [...text.matchAll(/"name": "(\w+)"/g)].map(([, name]) => name)
  }

  test('[B3] a where selects rows, with values of the input bound, in the requested order', async () => {
    const where = 'city = payload.place AND score >= 5'
    expect(await seen({ where, orderBy: 'score desc', limit: 1 }, { place: 'Oslo' })).toEqual(['Cy'])
    expect(await seen({ where }, { place: "x' OR '1'='1" })).toEqual([])
    expect(await seen({ where }, {})).toBe('CONTEXT_AMBIGUOUS')
  })

  test('[B3] without a where, a reference selects one row, else equal fields do; without either no row is selected', async () => {
    expect(await seen({}, { lead_id: 2, city: 'Oslo' })).toEqual(['Bo'])
    expect(await seen({}, { city: 'Oslo', other: 1 })).toEqual(['Ana', 'Cy', 'Di'])
    expect(await seen({}, { other: 1 })).toBe('CONTEXT_AMBIGUOUS')
  })
})
