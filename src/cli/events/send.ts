/** `trihand send <event> [json|@file|-]`: sends one event and prints the receipt and the runs it started. */
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { headersOf, type WhoFlags } from '#cli/connect/who.ts'
import { parseJson } from '#cli/terminal/json-argument.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import type { EventDetail, Receipt, RunDetail } from '#http/openapi/api.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { detailsOf, exitCodeFor, hasEnded, outcomeOf, outcomeRow, poll, settled } from './follow.ts'

export interface SendFlags extends WhoFlags {
  readonly type: string
  /** JSON, `@file`, or `-` for stdin. */
  readonly data?: string
  readonly id?: string
  readonly source?: string
  readonly subject?: string
  /** Sends the event after this time: `30s`, `2h`. */
  readonly delay?: string
  readonly wait?: number
}

const eventOf = ({ type, data, id, source, subject, delay }: SendFlags): unknown => ({
  type,
  ...(data === undefined ? {} : { data: parseJson(data, 'the data') }),
  ...(id === undefined ? {} : { id }),
  ...(source === undefined ? {} : { source }),
  ...(subject === undefined ? {} : { subject }),
  ...(delay === undefined ? {} : { delay }),
})

const printPlainly = (output: Output, receipt: Receipt, runs: readonly RunDetail[]): void => {
  if (receipt.due_at !== undefined) {
    output.line(
      visible(`the event will be sent at ${receipt.due_at}; \`trihand events cancel ${receipt.id}\` cancels it`),
    )
    return
  }
  const novelty = receipt.duplicate ? 'already exists' : 'is stored'
  output.line(visible(`event ${receipt.id} ${novelty}, number ${receipt.sequence}`))
  output.table(runs.map(outcomeRow))
  for (const { trigger, reason, detail } of receipt.suppressed) {
    output.line(visible(`${trigger} did not start: ${reason}${detail === '' ? '' : `, ${detail}`}`))
  }
  for (const handler of receipt.pending)
    output.line(
      visible(`${handler}: flow control decides whether it starts; see \`trihand events show ${receipt.sequence}\``),
    )
  if (receipt.runs.length + receipt.suppressed.length + receipt.pending.length === 0)
    output.line('it starts no function; runs that wait for it continue')
}

const print = (output: Output, receipt: Receipt, runs: readonly RunDetail[]): void => {
  if (output.isJson) output.document({ ...receipt, results: runs.map(outcomeOf) })
  else if (output.isQuiet) for (const id of receipt.runs) output.line(visible(id))
  else printPlainly(output, receipt, runs)
}

/** Reasons for which the event became part of the input of another run. */
const TAKEN_IN: ReadonlySet<string> = new Set(['joined', 'debounced'])

/** The current state of the receipt: flow control may have started runs since it was given. */
const newest = async (api: Api, receipt: Receipt): Promise<Receipt> => {
  if (receipt.pending.length === 0) return receipt
  const { runs, pending, suppressed } = await api.get<EventDetail>(`/api/events/${receipt.sequence}`)
  const others = suppressed.flatMap(({ reason, run }) => (TAKEN_IN.has(reason) && run !== null ? [run] : []))
  return {
    ...receipt,
    runs: [...new Set([...receipt.runs, ...runs.map(({ id }) => id), ...others])],
    pending,
    suppressed,
  }
}

interface Followed {
  readonly receipt: Receipt
  readonly runs: readonly RunDetail[]
}

/** Waits until flow control has decided and every run has ended, or the time is up. */
const followed = (api: Api, first: Receipt, waitMs: number): Promise<Followed> => {
  const look = async (): Promise<Followed> => {
    const receipt = await newest(api, first)
    return { receipt, runs: await detailsOf(api, receipt.runs) }
  }
  return poll(look, ({ receipt, runs }) => receipt.pending.length === 0 && runs.every(hasEnded), waitMs)
}

/** Sends the event, waits if `--wait` was given, and prints the result. */
export const sendVia = async (
  api: Api,
  output: Output,
  event: unknown,
  flags: WhoFlags & { readonly wait?: number },
): Promise<number> => {
  const waitMs = flags.wait ?? null
  const first = await api.post<Receipt>('/api/events', event, headersOf(flags))
  if (waitMs === null) {
    print(output, first, await settled(api, first.runs, null))
    return EXIT.done
  }
  const expected = first.runs.length + first.pending.length
  if (expected > 0) output.talk(`waiting for ${expected === 1 ? 'the run' : `${expected} runs`}`)
  const { receipt, runs } = await followed(api, first, waitMs)
  print(output, receipt, runs)
  return receipt.pending.length > 0 ? EXIT.waitedOut : exitCodeFor(runs)
}

export const send: Verb<SendFlags> = async (shell, flags) => {
  // Parsed before anything is opened: a mistake in the arguments needs no server.
  const event = eventOf(flags)
  if (flags.delay !== undefined && flags.wait !== undefined)
    throw new TrihandError(
      'INPUT_INVALID',
      'a delayed event starts no runs now, so there is nothing to wait for: omit --wait or --delay',
    )
  return withApi(shell, flags, { need: 'work', mayCreate: true }, (api) => sendVia(api, shell.output, event, flags))
}
