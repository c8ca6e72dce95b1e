/**
 * `trihand check [path] --against <ledger or URL>`: before a deploy, checks the runs that have not ended against the new code.
 *
 * Owns the exit codes: 0 clean, 1 some runs would fail, 4 the system does not load. Changes nothing in the ledger; memory grows with one
 * page of runs and with the findings.
 */
import { realpathSync } from 'node:fs'
import { liveServer, withApi } from '#cli/connect/connect.ts'
import { codeFolder, isServerUrl } from '#cli/connect/settings.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Shell, Verb } from '#cli/terminal/shell.ts'
import { ledgerChoice } from '#compose/config.ts'
import type { OpenRun } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import { defineSystem, normalise } from '#manifest/define/define.ts'
import type { System } from '#manifest/define/system.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { checkRun, type Trouble } from './check-run.ts'
import { loadSystem } from './load-system.ts'

export interface CheckFlags {
  readonly path?: string
  readonly against?: string
}

const PAGE = 100

interface Found {
  readonly run: string
  readonly handler: string
  readonly status: string
  readonly troubles: readonly Trouble[]
}

interface Outcome {
  runs: number
  readonly found: Found[]
  /** How many runs were not compared step by step, by reason. */
  readonly skipped: Map<string, number>
}

/** The real path of a file, without symbolic links. */
const pathOf = (file: string): string => {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}

/** The flags to connect by: if a server of this folder has the file open, that server. */
const doorTo = async ({ settings }: Shell, against: string): Promise<CommonFlags> => {
  if (isServerUrl(against)) return { server: against }
  const choice = ledgerChoice(against)
  if (choice.kind === 'memory')
    throw new TrihandError('CONFIG_INVALID', 'a ledger in memory cannot be read by another process')
  if (choice.kind === 'postgres') return { database: against }
  const server = await liveServer(settings.dataFolder)
  const isServed = server?.ledger != null && pathOf(server.ledger) === pathOf(choice.file)
  return isServed ? { server: server.url } : { database: against }
}

const tell = (output: Output, { run, handler, status, troubles }: Found): void => {
  for (const { kind, text } of troubles)
    output.line(visible(`${run} ${handler} ${status} ${output.colors.red(kind)} ${text}`))
}

const compare = async (shell: Shell, system: System, against: string): Promise<Outcome> => {
  const outcome: Outcome = { runs: 0, found: [], skipped: new Map() }
  const judge = async (run: OpenRun): Promise<void> => {
    const { troubles, skipped } = await checkRun(system, run)
    outcome.runs++
    if (skipped !== null) outcome.skipped.set(skipped, (outcome.skipped.get(skipped) ?? 0) + 1)
    if (troubles.length === 0) return
    const found = { run: run.id, handler: run.handler, status: run.status, troubles }
    outcome.found.push(found)
    if (!shell.output.isJson) tell(shell.output, found)
  }
  await withApi(shell, await doorTo(shell, against), { need: 'look', migrate: false }, async (api) => {
    for (let cursor = ''; ; ) {
      const page = await api.get<Page<OpenRun>>(`/api/runs/open?limit=${PAGE}${cursor}`)
      await Promise.all(page.items.map(judge))
      if (page.next_cursor === null) return
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
  })
  return outcome
}

const summary = ({ runs, found, skipped }: Outcome): readonly string[] => [
  `${runs} ${runs === 1 ? 'run has' : 'runs have'} not ended; ${found.length} would not be able to continue`,
  ...[...skipped].map(([reason, count]) => `${count} not compared step by step: ${reason}`),
]

const documentOf = (system: System, outcome: Outcome | null): object => ({
  system: system.name,
  functions: system.functions.size,
  ...(outcome !== null && {
    runs: outcome.runs,
    troubled: outcome.found,
    skipped: [...outcome.skipped].map(([reason, count]) => ({ reason, runs: count })),
  }),
})

export const check: Verb<CheckFlags> = async (shell, { path, against }) => {
  const { output, settings } = shell
  const { source } = await loadSystem(path, codeFolder(settings))
  const system = normalise(defineSystem(source), (text) => text)
  const outcome = against === undefined ? null : await compare(shell, system, against)
  if (output.isJson) output.document(documentOf(system, outcome))
  else {
    if (outcome !== null) for (const text of summary(outcome)) output.line(visible(text))
    else output.line(visible(`${system.name} loads: ${source.functions?.length ?? 0} functions`))
  }
  return outcome !== null && outcome.found.length > 0 ? EXIT.no : EXIT.done
}
