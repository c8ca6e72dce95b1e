/** `trihand runs why <id>`: explains in one sentence why a run does not continue. */
import { withApi } from '#cli/connect/connect.ts'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import type { RunWhy } from '#http/openapi/api.ts'
import type { RunFlags } from './show.ts'

export const explainRun: Verb<RunFlags> = async (shell, flags) => {
  const path = `/api/runs/${encodeURIComponent(flags.id)}/why`
  const why = await withApi(shell, flags, { need: 'look' }, (api) => api.get<RunWhy>(path))
  if (shell.output.isJson) shell.output.document(why)
  else shell.output.line(visible(why.text))
  return EXIT.done
}
