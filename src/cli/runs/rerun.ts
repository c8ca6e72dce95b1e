/** `trihand runs rerun <id> [--from <step>] [--input …]`: runs a run again as a new one. Prints the new run. */
import { withApi } from '#cli/connect/connect.ts'
import { exitCodeFor, settled } from '#cli/events/follow.ts'
import { parseJson } from '#cli/terminal/json-argument.ts'
import { EXIT } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import { type CommandFlags, printRun } from './command.ts'

export interface RerunFlags extends CommandFlags {
  readonly from?: string
  /** JSON, `@file`, or `-` for stdin. */
  readonly input?: string
  readonly reuseDecisions?: boolean
}

export const rerunRun: Verb<RerunFlags> = async (shell, flags) => {
  const { from, input, reuseDecisions = false } = flags
  const body = {
    reuse_decisions: reuseDecisions,
    ...(from !== undefined && { from }),
    ...(input !== undefined && { input: parseJson(input, 'the input') }),
  }
  return withApi(shell, flags, { need: 'work' }, async (api) => {
    const { id } = await api.post<{ readonly id: string }>(`/api/runs/${encodeURIComponent(flags.id)}/rerun`, body)
    const runs = await settled(api, [id], flags.wait ?? null)
    for (const run of runs) printRun(shell.output, run)
    return flags.wait === undefined ? EXIT.done : exitCodeFor(runs)
  })
}
