/**
 * `trihand runs watch <id>`: what happens to a run, a line for each fact, until it has ended.
 *
 * Owns how long: to the end (0 if it went well, 1 if not), to the limit that was given (8), or to Ctrl+C (130), which leaves the run
 * as it is. Without a server nobody works on the run: what has happened is shown, and that is all.
 */
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { exitCodeFor, hasEnded, outcomeOf, outcomeRow, untilTold } from '#cli/events/follow.ts'
import { queryText } from '#cli/terminal/listing.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import type { Fact, RunDetail } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import type { RunFlags } from './show.ts'

export interface WatchFlags extends RunFlags {
  readonly wait?: number
}

const PAGE = '200'

const printFact = (output: Output, { seq, at, step, text, type }: Fact): void => {
  if (output.isJson) output.document({ type: 'fact', seq, at, fact: type, step, text }, { isStream: true })
  else output.line(visible(`${at}  ${step === null ? text : `${step}: ${text}`}`))
}

const printEnd = (output: Output, run: RunDetail): void => {
  if (output.isJson) output.document({ type: 'end', ...outcomeOf(run) }, { isStream: true })
  else output.table([outcomeRow(run)])
}

/** Prints what is new at each look; answers the run as it was before that look. */
const looker = (api: Api, output: Output, id: string): (() => Promise<RunDetail>) => {
  let next = 0
  return async () => {
    // Before the facts: a run that has ended then has no more of them.
    const run = await api.get<RunDetail>(`/api/runs/${encodeURIComponent(id)}`)
    for (let more = true; more; ) {
      const page: Page<Fact> = await api.get(
        `/api/runs/${run.id}/facts${queryText({ cursor: String(next), limit: PAGE })}`,
      )
      for (const fact of page.items) printFact(output, fact)
      next += page.items.length
      more = page.next_cursor !== null
    }
    return run
  }
}

export const watchRun: Verb<WatchFlags> = (shell, flags) =>
  withApi(shell, flags, { need: 'look' }, async (api) => {
    const { output } = shell
    const look = looker(api, output, flags.id)
    const run = api.isLocal ? await look() : await untilTold(look, hasEnded, flags.wait ?? null)
    if (run === 'interrupted') return EXIT.interrupted
    if (hasEnded(run)) printEnd(output, run)
    else if (api.isLocal) output.talk('no server runs here, so nobody works on it; `trihand dev` would')
    return exitCodeFor([run])
  })
