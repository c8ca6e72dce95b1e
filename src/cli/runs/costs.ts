/** `trihand costs`: model calls and their cost, by day, agent or model. */
import { withApi } from '#cli/connect/connect.ts'
import { queryText } from '#cli/terminal/listing.ts'
import { EXIT } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { Costs, Spent } from '#http/openapi/api.ts'

export interface CostsFlags extends CommonFlags {
  readonly by?: string
  readonly from?: string
  readonly to?: string
}

const calls = (count: number): string => `${count} ${count === 1 ? 'call' : 'calls'}`

/** An unknown cost is not printed as zero; an unverified one is marked as such. */
export const moneyText = ({ cost_usd, unpriced_calls, unverified_usd }: Spent): string => {
  const known = cost_usd === null ? '' : `$${cost_usd.toFixed(4)}`
  const told = unverified_usd === null ? '' : ` ($${unverified_usd.toFixed(4)} reported, unverified)`
  const unknown = unpriced_calls === 0 ? '' : `unknown for ${calls(unpriced_calls)}${told}`
  return [known, unknown].filter((text) => text !== '').join(' and ') || '-'
}

const cells = (spent: Spent): readonly string[] => [
  String(spent.calls),
  spent.failed_calls === 0 ? '-' : String(spent.failed_calls),
  String(spent.input_tokens),
  String(spent.output_tokens),
  moneyText(spent),
]

export const costs: Verb<CostsFlags> = async (shell, flags) => {
  const { by, from, to } = flags
  const { output } = shell
  const found = await withApi(shell, flags, { need: 'look' }, (api) =>
    api.get<Costs>(`/api/costs${queryText({ by, from, to })}`),
  )
  if (output.isJson) output.document(found)
  else if (found.items.length === 0) output.talk(`No model calls from ${found.from} to ${found.to}.`)
  else
    output.table([
      [...found.by, '', 'calls', 'failed', 'tokens in', 'tokens out', 'cost'],
      ...found.items.map((row) => [
        ...found.by.map((dimension) => row[dimension] ?? '-'),
        row.simulated ? 'simulated' : '',
        ...cells(row),
      ]),
      [...found.by.map((_, i) => (i === 0 ? 'total' : '')), '', ...cells(found.total)],
    ])
  return EXIT.done
}
