/**
 * The command line: one call from its arguments to its exit code, and what becomes of a mistake in them.
 *
 * Owns the shell that verbs are given. Usage errors end with 2 and name the nearest verb.
 */
import { type Command, CommanderError } from 'commander'
import { loadEnvFile, readSettings } from '#cli/connect/settings.ts'
import { EXIT, Output, type OutputOptions } from '#cli/terminal/output.ts'
import type { Shell } from '#cli/terminal/shell.ts'
import { problem } from '#http/server/problem.ts'
import { createProgram } from './verbs.ts'

const SAID: ReadonlySet<string> = new Set(['commander.helpDisplayed', 'commander.version'])

/** The words of the arguments that name a verb: `runs show`. */
const verbIn = (program: Command, args: readonly string[]): string => {
  const words: string[] = []
  let found: Command | undefined = program
  for (const arg of args) {
    found = found?.commands.find((one) => one.name() === arg || one.aliases().includes(arg))
    if (found === undefined) break
    words.push(arg)
  }
  return ['trihand', ...words].join(' ')
}

const usage = (output: Output, error: CommanderError, verb: string): number => {
  if (SAID.has(error.code)) return EXIT.done
  if (error.code === 'commander.help') return EXIT.usage
  const detail = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  return output.tell({ ...problem('CONFIG_INVALID', detail), hint: `See \`${verb} --help\`.` })
}

/** What a call is given besides its arguments. `process` is one. */
type Caller = Pick<OutputOptions, 'stdout' | 'stderr' | 'env'>

/** One call, to its exit code. Ends nothing but itself, so that a program may make many. */
export const main = async (args: readonly string[], caller: Caller): Promise<number> => {
  const { stdout, stderr, env } = caller
  const output = new Output({ stdout, stderr, env, json: args.includes('--json'), quiet: args.includes('--quiet') })
  let exitCode: number = EXIT.done
  const openShell = (): Shell => {
    const fromFile = loadEnvFile('.')
    const settings = readSettings(env)
    return { output, settings, env, fromFile }
  }
  const program = createProgram(async (load, flags) => {
    const shell = openShell()
    exitCode = await (await load())(shell, flags)
  }, caller)
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    return error instanceof CommanderError ? usage(output, error, verbIn(program, args)) : output.fail(error)
  }
}

/** The whole process. Ends it at once when the verb has: a user's module may hold timers or sockets. */
export const runMain = async (): Promise<void> => {
  // Whoever reads us may have read enough (`| head`).
  process.stdout.on('error', () => process.exit(EXIT.done))
  const exitCode = await main(process.argv.slice(2), process)
  process.stdout.write('', () => process.exit(exitCode))
}
