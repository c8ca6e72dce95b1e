/** `trihand dev [path]`: runs a system from its source, serves it on loopback, and reloads changed source without a restart. */
import { dirname } from 'node:path'
import { serve } from '#cli/connect/serve.ts'
import { codeFolder, defaultLedger } from '#cli/connect/settings.ts'
import { watchFiles } from '#cli/connect/watch-files.ts'
import { findSystem, loadSystem } from '#cli/manifest/load-system.ts'
import type { Serving } from '#cli/terminal/announce.ts'
import { visible } from '#cli/terminal/output.ts'
import type { Shell, Verb } from '#cli/terminal/shell.ts'
import { suggestionsFor } from '#cli/terminal/suggest.ts'
import type { Finding } from '#manifest/yaml/finding.ts'

export interface DevFlags {
  readonly path?: string
  readonly database?: string
  readonly port?: number
  /** False: other processes execute the runs. */
  readonly work?: boolean
}

/** Prints the first warning, which does not prevent the start. */
const warn = ({ output }: Shell, findings: readonly Finding[]): void => {
  const [first, ...rest] = findings.filter(({ level }) => level === 'warning')
  if (first === undefined) return
  const { file, line, column, code, message, hint } = first
  output.talk(visible(`${file}:${line}:${column} warning ${code} ${message}`))
  output.talk(visible(rest.length === 0 ? hint : `and ${rest.length} more: npx trihand manifest validate`))
}

const reload = async (shell: Shell, file: string, { trihand }: Serving): Promise<void> => {
  const { output, settings } = shell
  try {
    const { source } = await loadSystem(file, codeFolder(settings))
    await trihand.replace(source)
    warn(shell, source.findings ?? [])
    output.talk(
      visible(`reloaded ${source.name}: new runs use the new version; current runs continue, matched by step names`),
    )
  } catch (error) {
    output.fail(error)
    output.talk('the previous version keeps running')
  }
}

/** Reloads one after the other, so that the last change wins. */
const reloadOnChange = (shell: Shell, file: string, serving: Serving): (() => void) => {
  let last = Promise.resolve()
  return watchFiles(dirname(file), {
    changed: () => {
      last = last.then(() => reload(shell, file, serving))
    },
    lost: (reason) => shell.output.talk(visible(`some source changes may be missed: ${String(reason)}`)),
  })
}

export const dev: Verb<DevFlags> = async (shell, flags) => {
  const { file, source } = await loadSystem(findSystem(flags.path), codeFolder(shell.settings))
  warn(shell, source.findings ?? [])
  return serve(shell, {
    source,
    folder: dirname(file),
    database: flags.database ?? defaultLedger(shell.settings),
    work: flags.work ?? true,
    port: flags.port ?? shell.settings.port,
    begin: (serving) => reloadOnChange(shell, file, serving),
    suggestions: ({ system }) => suggestionsFor(system),
  })
}
