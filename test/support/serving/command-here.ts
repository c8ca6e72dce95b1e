/**
 * Calls the built command in this process, with its own folder, environment and streams.
 *
 * Runs one call at a time, because a process has one folder and one environment. Code that is loaded stays loaded, so the next call takes a
 * tenth of the time of a process.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PROJECT } from '#test/support/places.ts'
import { within } from '#test/support/within.ts'

const HUNG_AFTER_MS = 20_000

type Main = typeof import('#cli/main.ts').main

/** Loaded by node itself: the test runner would transform it again. */
const loadMain = async (): Promise<Main> =>
  (await import(/* @vite-ignore */ pathToFileURL(join(PROJECT, 'dist/cli/main.js')).href)).main

const setEnvironment = (env: NodeJS.ProcessEnv): void => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
}

/** Sets that folder and environment, and restores the old ones afterwards in any case. */
const inPlace = async <T>(folder: string, env: NodeJS.ProcessEnv, work: () => Promise<T>): Promise<T> => {
  const before = { folder: process.cwd(), env: { ...process.env } }
  process.chdir(folder)
  setEnvironment(env)
  try {
    return await work()
  } finally {
    process.chdir(before.folder)
    setEnvironment(before.env)
  }
}

let last: Promise<unknown> = Promise.resolve()

/** Waits for the call before it. */
const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
  const turn = last.then(work)
  last = turn.catch(() => undefined)
  return turn
}

export interface EndedHere {
  readonly code: number
  readonly signal: null
  readonly stdout: string
  readonly stderr: string
}

export interface HereOptions {
  readonly env: NodeJS.ProcessEnv
  readonly isTTY: boolean
}

export const callHere = (folder: string, args: readonly string[], { env, isTTY }: HereOptions): Promise<EndedHere> =>
  inTurn(async () => {
    const main = await loadMain()
    const text = { stdout: '', stderr: '' }
    const streamOf = (name: 'stdout' | 'stderr') => ({
      isTTY,
      write: (words: string): void => {
        text[name] += words
      },
    })
    const call = () => main(args, { stdout: streamOf('stdout'), stderr: streamOf('stderr'), env: process.env })
    const code = await inPlace(folder, env, () => within(call(), HUNG_AFTER_MS, `trihand ${args.join(' ')}`))
    return { code, signal: null, ...text }
  })
