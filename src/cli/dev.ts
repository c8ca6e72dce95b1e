/** `trihand dev [path]`: runs a system from its source, serves it on loopback, and takes a changed source without a restart. */
import { dirname } from 'node:path'
import type { System } from '../manifest/system.ts'
import type { Serving } from './announce.ts'
import { findSystem, loadSystem } from './load-system.ts'
import { visible } from './output.ts'
import { serve } from './serve.ts'
import { codeFolder, defaultLedger } from './settings.ts'
import type { Shell, Verb } from './shell.ts'
import { watchFiles } from './watch-files.ts'

export interface DevFlags {
  readonly path?: string
  readonly database?: string
  readonly port?: number
  /** False: others work. */
  readonly work?: boolean
}

const reload = async ({ output, settings }: Shell, file: string, { trihand }: Serving): Promise<void> => {
  try {
    const { source } = await loadSystem(file, codeFolder(settings))
    await trihand.replace(source)
    output.talk(visible(`reloaded ${source.name}: new runs follow it, runs at work go on by their step names`))
  } catch (error) {
    output.fail(error)
    output.talk('the system that was loaded before goes on serving')
  }
}

const tryThese = ({ listeners }: System): readonly string[] => {
  const [type] = listeners.keys()
  return [
    ...(type === undefined ? [] : [`npx trihand send ${type} '{}'`]),
    'npx trihand runs list',
    'npx trihand runs show <id>',
  ]
}

/** One reload after the other: the last change is the one that stays. */
const reloadOnChange = (shell: Shell, file: string, serving: Serving): (() => void) => {
  let last = Promise.resolve()
  return watchFiles(dirname(file), {
    changed: () => {
      last = last.then(() => reload(shell, file, serving))
    },
    lost: (reason) => shell.output.talk(visible(`some changes of the source will not be noticed: ${String(reason)}`)),
  })
}

export const dev: Verb<DevFlags> = async (shell, flags) => {
  const { file, source } = await loadSystem(findSystem(flags.path), codeFolder(shell.settings))
  return serve(shell, {
    source,
    folder: dirname(file),
    database: flags.database ?? defaultLedger(shell.settings),
    work: flags.work ?? true,
    port: flags.port ?? shell.settings.port,
    begin: (serving) => reloadOnChange(shell, file, serving),
    suggestions: ({ system }) => tryThese(system),
  })
}
