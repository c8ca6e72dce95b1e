/**
 * Flags that several commands share, and the type that loads a command: helpers for the table in verbs.ts.
 *
 * Owns the meaning of each flag, once. Never executes anything.
 */
import { type Command, InvalidArgumentError } from 'commander'
import { parsePort, parseSlots } from '#cli/connect/settings.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import { durationMs } from '#manifest/time/duration.ts'

/** Loads the command, passes it the flags, keeps its exit code. */
export type Perform = <Flags>(load: () => Promise<Verb<Flags>>, flags: Flags) => Promise<void>

export const port = (text: string): number => {
  const found = parsePort(text)
  if (found === null) throw new InvalidArgumentError('expected 0 to 65535.')
  return found
}

export const slots = (text: string): number => {
  const found = parseSlots(text)
  if (found === null) throw new InvalidArgumentError('expected 1 to 999999.')
  return found
}

export const wait = (text: string): number => {
  try {
    return durationMs(text)
  } catch {
    throw new InvalidArgumentError('expected a duration like 30s or 5m.')
  }
}

/** A whole number, 0 or more. */
export const number = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('expected a whole number.')
}

export const withOutput = (command: Command): Command =>
  command.option('--json', 'print JSON to stdout, and errors to stderr')

/** The flags of an answer to "did it happen?". */
export const withAnswer = (command: Command): Command =>
  withConfirmation(withWho(withWork(command)))
    .option('--result <json>', 'result of the step, if it happened')
    .option('--reason <text>', 'why')

/** The flags that confirm a decision, if the task requires a confirmation. */
export const withConfirmation = (command: Command): Command =>
  command
    .option('--confirm <text>', 'text that the action asks you to type; skips the confirmation')
    .option('--acknowledge', 'accept the warning of the action')

/** For commands that connect to a running system, or open its ledger. */
export const withConnection = (command: Command): Command =>
  withOutput(command)
    .option('--server <url>', 'URL of the server (TRIHAND_URL)')
    .option('--database <path|url>', 'path or URL of the ledger to open (DATABASE_URL)')

export const withWork = (command: Command): Command =>
  withConnection(command).option('--system <path>', 'file or folder of the system, if no server runs')

export const withPage = (command: Command): Command =>
  command
    .option('--limit <n>', 'number of rows, 1 to 200')
    .option('--cursor <cursor>', 'start after this cursor')
    .option('--quiet', 'print ids only')

export const withWho = (command: Command): Command =>
  command.option('--as <user>', 'your user name').option('--groups <names>', 'comma-separated groups that you act for')
