/**
 * All output of the command line: the result on stdout, messages and errors on stderr, and the exit code.
 *
 * Owns colour, `--json`, `--quiet`, exit codes and the escaping of control characters in data. No command writes to a stream itself.
 *
 * output-1  Data never moves the cursor, changes a colour or hides text: control and direction characters are printed escaped.
 * output-2  No escape code is written to anything but a terminal.
 * output-3  No error is printed with a secret of the environment.
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

/** A server answered with a problem. */
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

/** Inside JSON these characters occur only in strings, where the escaped form has the same meaning. */
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

/** output-2. Decided here, because the package would colour pipes under CI. */
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

  /** Prints one line of the result. */
  line(text: string): void {
    this.#options.stdout.write(`${text}\n`)
  }

  /** True if the result is printed to a terminal. */
  get isTerminal(): boolean {
    return this.#options.stdout.isTTY === true
  }

  /** Prints the result as one document; in a stream of documents each is on its own line. */
  document(value: unknown, options: { readonly isStream?: boolean } = {}): void {
    this.line(jsonText(value, options.isStream ? undefined : 2))
  }

  /** Prints a message that is not part of the result, such as progress or the next step. Omitted with `--json`. */
  talk(text: string): void {
    if (!this.isJson) this.#complain(text)
  }

  /**
   * Prints a message that the next one overwrites, on a terminal only. Returns false if it would not be visible. An empty text clears the
   * line.
   */
  rewrite(text: string): boolean {
    const { stderr, env } = this.#options
    if (this.isJson || stderr.isTTY !== true || env['TERM'] === 'dumb') return false
    stderr.write(`\r\u001b[K${visible(text)}`)
    return true
  }

  /** Prints one line of the log (log.ts), also with `--json`, because it goes to stderr. */
  readonly log = (text: string): void => this.#complain(text)

  /** Prints an unexpected error with the id that the caller was given. */
  readonly report = (errorId: string, error: unknown): void => {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#complain(visible(this.#redacted(`error ${errorId}: ${words}`)))
  }

  /** Prints rows in columns, every cell escaped. Only the last column may be of any width. */
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

  /** Prints an error and returns the exit code. */
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

  /** output-3. Built anew for each error, because `.env` may have set more variables by now. */
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
