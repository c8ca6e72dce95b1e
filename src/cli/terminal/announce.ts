/**
 * The first lines of a serving process: its address, its ledger, and commands to try.
 *
 * Owns the first lines, and the first document of `--json`. Later output comes from activity.ts.
 */
import { relative } from 'node:path'
import { VERSION } from '#cli/version.ts'
import type { Trihand } from '#compose/assemble.ts'
import { type Output, visible } from './output.ts'

export interface Serving {
  readonly trihand: Trihand
  readonly url: string
}

export interface Invitation {
  /** Null: the user gave none. */
  readonly port: number | null
  /** Commands to try. */
  readonly suggestions: (trihand: Trihand) => readonly string[]
  /** The command that starts again from an empty ledger, if there is one. */
  readonly anew?: string
}

const USUAL_PORT = 4400

const documentOf = ({ trihand: { ledger, system, simulatedBecause }, url }: Serving) => ({
  type: 'listening',
  url,
  pid: process.pid,
  version: VERSION,
  system: system.name,
  ledger: ledger.description,
  durable: ledger.durable,
  simulated: simulatedBecause !== null,
  simulated_because: simulatedBecause,
})

const headline = ({ ledger, system }: Trihand): string => {
  const where = ledger.kind === 'sqlite' ? relative('', ledger.description) : ledger.description
  return `Trihand ${VERSION} · ${system.name} · ledger ${where} (${ledger.durable ? 'durable' : 'not durable'})`
}

export const announce = (output: Output, serving: Serving, { port, suggestions, anew }: Invitation): void => {
  const { trihand, url } = serving
  if (output.isJson) {
    output.document(documentOf(serving), { isStream: true })
    return
  }
  output.line(visible(headline(trihand)))
  if (trihand.simulatedBecause !== null)
    output.line(visible(`Models  simulated: agents answer from scripts (${trihand.simulatedBecause})`))
  output.line(`Open    ${output.colors.cyan(`${url}/`)}`)
  for (const [i, command] of suggestions(trihand).entries())
    output.line(`${i === 0 ? 'Try ' : '    '}    ${visible(command)}`)
  output.line('Stop    Ctrl+C. After a restart, runs continue where they stopped.')
  if (anew !== undefined) output.line(`Reset   ${anew}`)
  if (port === null && !url.endsWith(`:${USUAL_PORT}`))
    output.talk(`port ${USUAL_PORT} is in use; this is the next free port`)
}
