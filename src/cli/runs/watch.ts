/**
 * `trihand runs watch <id>`: prints the facts of a run, a line each, until it has ended.
 *
 * Owns when it ends: with the run (0 if it succeeded, 1 if not), at the given time limit (8), or at Ctrl+C (130), which does not affect the
 * run. Without a server the run is not executed: its facts so far are printed, and that is all.
 */
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { exitCodeFor, hasEnded, outcomeOf, outcomeRow, pollUntil } from '#cli/events/follow.ts'
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

/** Prints new facts at each call; returns the run as it was before reading them. */
const looker = (api: Api, output: Output, id: string): (() => Promise<RunDetail>) => {
  let next = 0
  return async () => {
    // Read before the facts: a run that has ended by then has no further facts.
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
    const run = api.isLocal ? await look() : await pollUntil(look, hasEnded, flags.wait ?? null)
    if (run === 'interrupted') return EXIT.interrupted
    if (hasEnded(run)) printEnd(output, run)
    else if (api.isLocal)
      output.talk('no server is running here, so the run does not continue; start one with `trihand dev`')
    return exitCodeFor([run])
  })
