/** Output on stdout and stderr: colour, escaping, formats, exit codes. */
import { describe, expect, test } from 'vitest'
import { problem } from '#http/server/problem.ts'
import { ERRORS, type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { exitCodeOf, jsonText, Output, type OutputOptions, Refused, visible } from './output.ts'

const ESCAPE = '\u001b'

const recorder = (isTTY: boolean) => {
  const written: string[] = []
  return { isTTY, write: (text: string) => written.push(text), text: () => written.join('') }
}

const open = (changes: Partial<Omit<OutputOptions, 'stdout' | 'stderr'>> & { readonly isTTY?: boolean } = {}) => {
  const { isTTY = false, ...options } = changes
  const [stdout, stderr] = [recorder(isTTY), recorder(isTTY)]
  return { output: new Output({ stdout, stderr, env: {}, json: false, quiet: false, ...options }), stdout, stderr }
}

describe('colour', () => {
  test.each([
    ['a terminal', { isTTY: true, env: {} }, true],
    ['a pipe', { isTTY: false, env: {} }, false],
    ['a pipe under CI', { isTTY: false, env: { CI: '1', FORCE_COLOR: '1' } }, false],
    ['a terminal with NO_COLOR', { isTTY: true, env: { NO_COLOR: '1' } }, false],
    ['a terminal with an empty NO_COLOR', { isTTY: true, env: { NO_COLOR: '' } }, true],
    ['a dumb terminal', { isTTY: true, env: { TERM: 'dumb' } }, false],
  ])('output-2: is written to %s or not, as expected', (_, options, isColoured) => {
    const { output, stderr } = open(options)
    output.fail(new TrihandError('NOT_FOUND', 'gone'))
    expect(stderr.text().includes(ESCAPE)).toBe(isColoured)
    expect(output.colors.red('x').includes(ESCAPE)).toBe(isColoured)
  })
})

describe('data', () => {
  test.each([
    [`${ESCAPE}[2J`, '\\u001b[2J'],
    ['\u009b31m', '\\u009b31m'],
    ['a\rb\nc\td', 'a\\u000db\\u000ac\\u0009d'],
    [`${ESCAPE}]52;c;cm0gLXJm\u0007`, '\\u001b]52;c;cm0gLXJm\\u0007'],
    ['abc\u202etxt.exe', 'abc\\u202etxt.exe'],
    ['zero\u200bwidth\ufeff', 'zero\\u200bwidth\\ufeff'],
    ['Zoë 漢字 🎉', 'Zoë 漢字 🎉'],
  ])('[S21] output-1: %j is printed as %s', (given, shown) => {
    expect(visible(given)).toBe(shown)
    const { output, stdout } = open({ isTTY: true })
    output.table([[given, 'b']])
    expect(stdout.text()).toBe(`${shown}  b\n`)
  })

  test('[S21] output-1: is escaped in JSON, too, without changing its meaning', () => {
    const value = { note: 'a\u009b\u202e\u2028b\n' }
    for (const indent of [undefined, 2]) {
      expect(jsonText(value, indent)).not.toMatch(/[\u0080-\u009f\u2028-\u202e]/)
      expect(JSON.parse(jsonText(value, indent))).toEqual(value)
    }
  })

  test('[S21] output-1: is escaped in the message of an error', () => {
    const { output, stderr } = open()
    output.fail(new Refused({ ...problem('NOT_FOUND', `a${ESCAPE}b`), hint: 'c\u009bd', error_id: `e\r` }))
    expect(stderr.text()).toBe('NOT_FOUND a\\u001bb\nc\\u009bd\nerror id e\\u000d\n')
  })
})

describe('errors', () => {
  test('[S21] an unexpected error is printed with its id, also with --json, and its text is escaped', () => {
    const { output, stderr } = open({ json: true })
    output.report('e1', Object.assign(new Error('x'), { stack: `Error: ${ESCAPE}[2J\n at y` }))
    expect(stderr.text()).toBe('error e1: Error: \\u001b[2J\\u000a at y\n')
  })

  test('output-3: neither a problem nor an unexpected error is printed with a secret of the environment', () => {
    const { output, stderr } = open({ env: { PAY_KEY: 'correct-horse', REGION: 'eu-north-1' } })
    output.fail(new TrihandError('LOAD_FAILED', 'refused: correct-horse in eu-north-1'))
    output.report('e1', Object.assign(new Error('x'), { stack: 'Error: correct-horse' }))
    expect(stderr.text()).toContain('refused: [redacted:PAY_KEY] in eu-north-1')
    expect(stderr.text()).not.toContain('correct-horse')
  })

  test('an error is printed with its place before the message and its hint below', () => {
    const { output, stdout, stderr } = open()
    const place = { file: 'system.ts', line: 3, column: 7 }
    expect(output.fail(new TrihandError('LOAD_FAILED', 'no luck', { place }))).toBe(4)
    expect([stdout.text(), stderr.text()]).toEqual([
      '',
      'LOAD_FAILED system.ts:3:7 no luck\nFix the file at the place in the message.\n',
    ])
  })

  test('with --json an error is one problem document, and nothing else is printed', () => {
    const { output, stderr } = open({ json: true })
    output.talk('by the way')
    output.fail(new TrihandError('NOT_FOUND', 'gone'))
    expect(JSON.parse(stderr.text())).toEqual(problem('NOT_FOUND', 'gone'))
  })

  test.each([
    ['CONFIG_INVALID', 2],
    ['NOT_FOUND', 3],
    ['NOT_JSON', 4],
    ['EVENT_INVALID', 4],
    ['PAYLOAD_TOO_LARGE', 4],
    ['MEDIA_TYPE_UNSUPPORTED', 4],
    ['ID_AMBIGUOUS', 5],
    ['LEDGER_UNAVAILABLE', 6],
    ['STORAGE_FULL', 6],
    ['SERVER_UNREACHABLE', 6],
    ['INTERNAL', 6],
    ['HOST_FORBIDDEN', 7],
  ] as const)('the error code %s exits with %i', (code, exit) => {
    expect(open().output.fail(new TrihandError(code, 'x'))).toBe(exit)
  })

  test('no error has the exit code of success or of a command that runs or waits', () => {
    const codes = (Object.keys(ERRORS) as ErrorCode[]).map((code) => exitCodeOf(problem(code, '')))
    expect(codes.filter((code) => code < 2 || code > 7)).toEqual([])
  })
})
