/**
 * The command line: one call from its arguments to its exit code, with usage errors.
 *
 * Owns the shell that commands are given. Usage errors end with 2 and name the nearest command.
 */
import { type Command, CommanderError } from 'commander'
import { loadEnvFile, readSettings } from '#cli/connect/settings.ts'
import { EXIT, Output, type OutputOptions } from '#cli/terminal/output.ts'
import type { Shell } from '#cli/terminal/shell.ts'
import { problem } from '#http/server/problem.ts'
import { createProgram } from './verbs.ts'

const SAID: ReadonlySet<string> = new Set(['commander.helpDisplayed', 'commander.version'])

/** The arguments that name a command: `runs show`. */
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

/** Streams and environment of a call. `process` has these members. */
type Caller = Pick<OutputOptions, 'stdout' | 'stderr' | 'env'>

/** Runs one call and returns its exit code. Never ends the process, so that a program may make many calls. */
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

/** Runs the process. Ends it as soon as the command has ended, because a user's module may hold timers or sockets. */
export const runMain = async (): Promise<void> => {
  // A reader may close the pipe early (`| head`).
  process.stdout.on('error', () => process.exit(EXIT.done))
  const exitCode = await main(process.argv.slice(2), process)
  process.stdout.write('', () => process.exit(exitCode))
}
