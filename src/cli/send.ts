/** `trihand send <event> [json|@file|-]`: sends one event and prints the receipt, and the runs it started. */
import type { Receipt, RunDetail } from '../http/api.ts'
import type { Api } from './api.ts'
import { withApi } from './connect.ts'
import { exitCodeFor, outcomeOf, outcomeRow, settled } from './follow.ts'
import { parseJson } from './json-argument.ts'
import { EXIT, type Output, visible } from './output.ts'
import type { CommonFlags, Verb } from './shell.ts'

export interface SendFlags extends CommonFlags {
  readonly type: string
  /** JSON, `@file`, or `-` for stdin. */
  readonly data?: string
  readonly id?: string
  readonly source?: string
  readonly subject?: string
  readonly wait?: number
}

const eventOf = ({ type, data, id, source, subject }: SendFlags): unknown => ({
  type,
  ...(data === undefined ? {} : { data: parseJson(data, 'the data') }),
  ...(id === undefined ? {} : { id }),
  ...(source === undefined ? {} : { source }),
  ...(subject === undefined ? {} : { subject }),
})

const printPlainly = (output: Output, receipt: Receipt, runs: readonly RunDetail[]): void => {
  const novelty = receipt.duplicate ? 'was there already' : 'is on disk'
  output.line(visible(`event ${receipt.id} ${novelty}, number ${receipt.sequence}`))
  output.table(runs.map(outcomeRow))
  for (const { trigger, reason, detail } of receipt.suppressed) {
    output.line(visible(`${trigger} was not started: ${reason}${detail === '' ? '' : `, ${detail}`}`))
  }
  if (receipt.runs.length + receipt.suppressed.length === 0)
    output.line('no function starts by it; runs that wait for it go on')
}

const print = (output: Output, receipt: Receipt, runs: readonly RunDetail[]): void => {
  if (output.isJson) output.document({ ...receipt, results: runs.map(outcomeOf) })
  else if (output.isQuiet) for (const id of receipt.runs) output.line(visible(id))
  else printPlainly(output, receipt, runs)
}

/** Sends, waits if that was asked for, and prints what became of it. */
export const sendVia = async (api: Api, output: Output, event: unknown, waitMs: number | null): Promise<number> => {
  const receipt = await api.post<Receipt>('/api/events', event)
  if (waitMs !== null && receipt.runs.length > 0)
    output.talk(`waiting for ${receipt.runs.length === 1 ? 'the run' : `${receipt.runs.length} runs`}`)
  const runs = await settled(api, receipt.runs, waitMs)
  print(output, receipt, runs)
  return waitMs === null ? EXIT.done : exitCodeFor(runs)
}

export const send: Verb<SendFlags> = async (shell, flags) => {
  // Read before any door is opened: a mistake in the arguments needs no server.
  const event = eventOf(flags)
  return withApi(shell, flags, { need: 'work', mayCreate: true }, (api) =>
    sendVia(api, shell.output, event, flags.wait ?? null),
  )
}
