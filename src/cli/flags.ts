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
  command.option('--json', 'one JSON document on stdout, problems on stderr')

/** The flags of an answer to "did it happen?". */
export const withAnswer = (command: Command): Command =>
  withConfirmation(withWho(withWork(command)))
    .option('--result <json>', 'what the step answered, if it happened')
    .option('--reason <text>', 'why')

/** The flags that confirm a decision, if the task requires a confirmation. */
export const withConfirmation = (command: Command): Command =>
  command
    .option('--confirm <text>', 'what the action asks you to type: then you are not asked')
    .option('--acknowledge', 'you have read the warning of the action and mean it all the same')

/** For commands that connect to a running system, or open its ledger. */
export const withDoor = (command: Command): Command =>
  withOutput(command)
    .option('--server <url>', 'talk to this server (TRIHAND_URL)')
    .option('--database <path|url>', 'open this ledger (DATABASE_URL)')

export const withWork = (command: Command): Command =>
  withDoor(command).option('--system <path>', 'the system, if no server runs: its file or folder')

export const withPage = (command: Command): Command =>
  command
    .option('--limit <n>', 'how many, 1 to 200')
    .option('--cursor <cursor>', 'go on after this one')
    .option('--quiet', 'ids only')

export const withWho = (command: Command): Command =>
  command.option('--as <user>', 'who you are').option('--groups <names>', 'the groups you act for, with commas')
