/** `trihand start <function> [json|@file|-]`: starts one function directly and prints its run. */
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { exitCodeFor, outcomeOf, outcomeRow, settled } from '#cli/events/follow.ts'
import { parseJson } from '#cli/terminal/json-argument.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'

export interface StartFlags extends CommonFlags {
  readonly name: string
  /** JSON, `@file`, or `-` for stdin. */
  readonly input?: string
  readonly wait?: number
  /** The id of the session that the run works in. */
  readonly session?: string
  /** The address that receives a webhook when the run ends. */
  readonly callback?: string
}

const startVia = async (api: Api, output: Output, flags: StartFlags, input: unknown): Promise<number> => {
  const { id } = await api.post<{ readonly id: string }>('/api/runs', {
    name: flags.name,
    input,
    ...(flags.callback !== undefined && { callback_url: flags.callback }),
    ...(flags.session !== undefined && { session: flags.session }),
  })
  const runs = await settled(api, [id], flags.wait ?? null)
  for (const run of runs) {
    if (output.isJson) output.document(outcomeOf(run))
    else if (output.isQuiet) output.line(visible(run.id))
    else output.table([outcomeRow(run)])
  }
  return flags.wait === undefined ? EXIT.done : exitCodeFor(runs)
}

export const start: Verb<StartFlags> = async (shell, flags) => {
  const input = flags.input === undefined ? null : parseJson(flags.input, 'the input')
  return withApi(shell, flags, { need: 'work', mayCreate: true }, (api) => startVia(api, shell.output, flags, input))
}
