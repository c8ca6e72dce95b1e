/** `trihand runs cancel|pause|resume|retry <id>`: a command of a person to one run. Prints the run after the command. */
import { withApi } from '#cli/connect/connect.ts'
import { exitCodeFor, outcomeOf, outcomeRow, settled } from '#cli/events/follow.ts'
import { EXIT, type Output } from '#cli/terminal/output.ts'
import type { Shell, Verb } from '#cli/terminal/shell.ts'
import type { RetriedRun, Run, RunDetail } from '#http/openapi/api.ts'
import type { RunFlags } from './show.ts'

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

/** Details for a person who retries a run. */
const retryLines = ({ done = [], waits = false }: Partial<RetriedRun>): readonly string[] => [
  ...(done.length === 0 ? [] : [`Already done, will not be repeated: ${done.join(', ')}`]),
  ...(waits ? ['The run waits in a queue; its flow control starts it.'] : []),
]

const give = (shell: Shell, flags: CommandFlags, { name, body }: Command): Promise<number> =>
  withApi(shell, flags, { need: 'work' }, async (api) => {
    const said = await api.post<Run & Partial<RetriedRun>>(`/api/runs/${encodeURIComponent(flags.id)}/${name}`, body)
    const { id } = said
    for (const line of retryLines(said)) shell.output.talk(line)
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
