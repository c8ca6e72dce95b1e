/**
 * Everything the command line says: the result on stdout, talk on stderr, errors as problems, and the code it ends with.
 *
 * Owns colour, `--json`, `--quiet`, exit codes and what becomes of control characters in data. No verb writes to a stream itself.
 *
 * output-1  Data never moves the cursor, changes a colour or hides text: control and direction characters are printed escaped.
 * output-2  No escape code is written to anything but a terminal.
 * output-3  No error is told with a secret of the environment in it.
 */
import pc from 'picocolors'
import { type Problem, problemOf } from '#http/server/problem.ts'
import { secretsOf } from '#manifest/define/secrets.ts'
import { createRedaction } from '#model/kernel/redaction.ts'
import { visibleLines, visibleText } from '#model/kernel/visible-text.ts'

export const EXIT = {
  done: 0,
  no: 1,
  usage: 2,
  notFound: 3,
  invalid: 4,
  conflict: 5,
  unreachable: 6,
  forbidden: 7,
  waitedOut: 8,
  interrupted: 130,
} as const

/** An answer of a server that was a problem. */
export class Refused extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail}`)
    this.name = 'Refused'
    this.problem = problem
  }
}

export const exitCodeOf = ({ code, status }: Pick<Problem, 'code' | 'status'>): number => {
  if (code === 'CONFIG_INVALID' || code === 'NOT_A_TERMINAL') return EXIT.usage
  if (status === 404) return EXIT.notFound
  if (status === 401 || status === 403) return EXIT.forbidden
  if (status === 409 || status === 412 || status === 428) return EXIT.conflict
  return status === 429 || status >= 500 ? EXIT.unreachable : EXIT.invalid
}

/** output-1. */
export const visible = visibleText

/** Inside JSON such characters can only stand in strings, where this spelling means the same. */
export const jsonText = (value: unknown, indent?: number): string => visibleLines(JSON.stringify(value, null, indent))

export interface Stream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export interface OutputOptions {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly json: boolean
  readonly quiet: boolean
}

export type Colors = ReturnType<typeof pc.createColors>

/** output-2. Decided here: the package would colour pipes under CI. */
const colorsFor = (stream: Stream, env: OutputOptions['env']): Colors =>
  pc.createColors(stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb')

/** `file:line:column ` before a detail, as far as it is known. */
export const placeText = ({ place }: Pick<Problem, 'place'>): string => {
  const parts = [place?.file, place?.line, place?.line === undefined ? undefined : place.column]
  const position = parts.filter((part) => part !== undefined).join(':')
  return position === '' ? '' : `${position} `
}

export class Output {
  readonly isJson: boolean
  readonly isQuiet: boolean
  readonly colors: Colors
  readonly #options: OutputOptions

  constructor(options: OutputOptions) {
    this.#options = options
    this.isJson = options.json
    this.isQuiet = options.quiet
    this.colors = colorsFor(options.stdout, options.env)
  }

  /** One line of the result. */
  line(text: string): void {
    this.#options.stdout.write(`${text}\n`)
  }

  /** A person reads the result as it comes. */
  get isTerminal(): boolean {
    return this.#options.stdout.isTTY === true
  }

  /** The result as one document; in a stream of them, each on its own line. */
  document(value: unknown, options: { readonly isStream?: boolean } = {}): void {
    this.line(jsonText(value, options.isStream ? undefined : 2))
  }

  /** Not the result: what is going on, what to do next. A program that asked for JSON gets none of it. */
  talk(text: string): void {
    if (!this.isJson) this.#complain(text)
  }

  /** Talk that is written over by the next: on a terminal only. False: nobody would see it. An empty text leaves nothing behind. */
  rewrite(text: string): boolean {
    const { stderr, env } = this.#options
    if (this.isJson || stderr.isTTY !== true || env['TERM'] === 'dumb') return false
    stderr.write(`\r\u001b[K${visible(text)}`)
    return true
  }

  /** One line of the log (log.ts), also beside JSON: it is on stderr. */
  readonly log = (text: string): void => this.#complain(text)

  /** An error that is a bug, under the name that the caller was told. */
  readonly report = (errorId: string, error: unknown): void => {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#complain(visible(this.#redacted(`error ${errorId}: ${words}`)))
  }

  /** Rows under each other, every cell made safe. Only the last column may be of any width. */
  table(rows: readonly (readonly string[])[]): void {
    const cells = rows.map((row) => row.map(visible))
    const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
    for (const row of cells)
      this.line(
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd(),
      )
  }

  /** Tells an error and answers the code to end with. */
  fail(error: unknown): number {
    const problem = error instanceof Refused ? error.problem : problemOf(error)
    return this.tell(problem)
  }

  tell(told: Problem): number {
    const problem = { ...told, detail: this.#redacted(told.detail) }
    if (this.isJson) this.#complain(jsonText(problem, 2))
    else this.#tellPlainly(problem)
    return exitCodeOf(problem)
  }

  /** output-3. Made anew for each of the few errors there are: `.env` may have set more by now. */
  #redacted(text: string): string {
    return createRedaction(secretsOf(this.#options.env, null)).text(text)
  }

  #complain(text: string): void {
    this.#options.stderr.write(`${text}\n`)
  }

  #tellPlainly(problem: Problem): void {
    const colors = colorsFor(this.#options.stderr, this.#options.env)
    this.talk(`${colors.red(problem.code)} ${visible(placeText(problem) + problem.detail)}`)
    this.talk(colors.dim(visible(problem.hint)))
    if (problem.error_id !== undefined) this.talk(colors.dim(`error id ${visible(problem.error_id)}`))
  }
}
