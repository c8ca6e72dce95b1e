/** The CSV export of costs. */
import { expect, test } from 'vitest'
import type { CostRow } from '../../api/documents.ts'
import { csvOf } from './csv.ts'

const row: CostRow = {
  ...{ day: '2026-01-31', agent: 'writer', model: 'acme-1', simulated: false, calls: 2 },
  ...{
    input_tokens: 200,
    output_tokens: 40,
    cost_usd: 0.5,
    unpriced_calls: 0,
    unpriced_tokens: 0,
    failed_calls: 1,
    unverified_usd: null,
  },
}

test('each row is a line under its names, and an unknown price is empty', () =>
  expect(csvOf([row, { ...row, cost_usd: null }]).split('\r\n')).toEqual([
    'day,agent,model,simulated,calls,input_tokens,output_tokens,cost_usd,unpriced_calls,unpriced_tokens,failed_calls,unverified_usd',
    '2026-01-31,writer,acme-1,false,2,200,40,0.5,0,0,1,',
    '2026-01-31,writer,acme-1,false,2,200,40,,0,0,1,',
  ]))

test.each([
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['=1+1', "'=1+1"],
])('the name %s is written as %s', (agent, written) =>
  expect(csvOf([{ ...row, agent }]).split('\r\n')[1]).toContain(`2026-01-31,${written},acme-1`),
)
