/** `trihand runs show <id>`: one run in full: status, what it waits for, children, and its facts as text. */
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { queryText } from '#cli/terminal/listing.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { Fact, RunDetail } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'

export interface RunFlags extends CommonFlags {
  readonly id: string
}

const PAGE = '200'

/** Reads the facts after the first page, which came with the run. */
const restOfFacts = async (api: Api, run: RunDetail): Promise<readonly Fact[]> => {
  const rest: Fact[] = []
  let cursor = run.facts.next_cursor
  while (cursor !== null) {
    const page: Page<Fact> = await api.get(`/api/runs/${run.id}/facts${queryText({ cursor, limit: PAGE })}`)
    rest.push(...page.items)
    cursor = page.next_cursor
  }
  return rest
}

const label = (name: string, text: string): string => `${name.padEnd(10)}${visible(text)}`

const printWhole = (output: Output, run: RunDetail): void => {
  output.line(visible(`${run.id}  ${run.handler}  ${run.status}`))
  output.line(label('started', run.created_at + (run.event === null ? '' : ` by event ${run.event}`)))
  if (run.parent_id !== null) output.line(label('parent', run.parent_id))
  for (const { step, text } of run.waiting_on)
    output.line(label('waits for', step === null ? text : `${step}: ${text}`))
  for (const child of run.children) output.line(label('child', `${child.id}  ${child.handler}  ${child.status}`))
  if (run.error !== null) output.line(label('error', `${run.error.code}: ${run.error.message}`))
  if (run.status === 'success' || run.status === 'partial') output.line(label('output', JSON.stringify(run.output)))
  output.line('')
  output.table(run.facts.items.map(({ seq, at, step, text }) => [String(seq), at, step ?? '', text]))
}

export const showRun: Verb<RunFlags> = async (shell, flags) => {
  const run = await withApi(shell, flags, { need: 'look' }, async (api) => {
    const found = await api.get<RunDetail>(`/api/runs/${encodeURIComponent(flags.id)}`)
    const items = [...found.facts.items, ...(await restOfFacts(api, found))]
    return { ...found, facts: { items, next_cursor: null } }
  })
  if (shell.output.isJson) shell.output.document(run)
  else printWhole(shell.output, run)
  return EXIT.done
}
