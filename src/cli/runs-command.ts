/** `trihand runs cancel|pause|resume|retry <id>`: a person's word to one run. Prints what the run is afterwards. */
import type { Run, RunDetail } from '../http/api.ts'
import { withApi } from './connect.ts'
import { exitCodeFor, outcomeOf, outcomeRow, settled } from './follow.ts'
import { EXIT, type Output } from './output.ts'
import type { RunFlags } from './runs-show.ts'
import type { Shell, Verb } from './shell.ts'

interface Command {
  readonly name: 'cancel' | 'pause' | 'resume' | 'retry'
  readonly body: unknown
}

export interface CommandFlags extends RunFlags {
  readonly wait?: number
}

export const printRun = (output: Output, run: RunDetail): void => {
  if (output.isJson) output.document(outcomeOf(run))
  else output.table([outcomeRow(run)])
}

const give = (shell: Shell, flags: CommandFlags, { name, body }: Command): Promise<number> =>
  withApi(shell, flags, { need: 'work' }, async (api) => {
    const { id } = await api.post<Run>(`/api/runs/${encodeURIComponent(flags.id)}/${name}`, body)
    const runs = await settled(api, [id], flags.wait ?? null)
    for (const run of runs) printRun(shell.output, run)
    return flags.wait === undefined ? EXIT.done : exitCodeFor(runs)
  })

export interface ReasonFlags extends RunFlags {
  readonly reason?: string
}

const withReason =
  (name: 'cancel' | 'pause'): Verb<ReasonFlags> =>
  (shell, flags) =>
    give(shell, flags, { name, body: flags.reason === undefined ? {} : { reason: flags.reason } })

export const cancelRun = withReason('cancel')

export const pauseRun = withReason('pause')

export const resumeRun: Verb<CommandFlags> = (shell, flags) => give(shell, flags, { name: 'resume', body: {} })

export const retryRun: Verb<CommandFlags> = (shell, flags) => give(shell, flags, { name: 'retry', body: {} })
