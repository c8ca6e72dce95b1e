/**
 * Arbitrary expressions and their invariant: compiling ends with a rule or with a refusal that has a place, and a rule returns an answer.
 *
 * Owns the vocabulary. Used by the property test beside the rules and by the stage `fuzz`.
 */
import fc from 'fast-check'
import { compileRule } from '#manifest/expressions/rules.ts'
import { celText } from '#manifest/yaml/parse/expression.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { toJson } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'

// biome-ignore format: a list of words
const WORDS = [
  'payload', 'payload.n', 'payload.text', 'payload.list', 'event', 'run', 'trigger.data', 'nobody', 'true', 'false', 'null', '1', '0',
  '2.5', '1e308', '9223372036854775808', '1u', '"x"', "'y'", '"', 'b"z"', 'r"\\d"', '==', '!=', '<', '<=', '>', '>=', '&&', '||', '!', '-',
  '+', '*', '/', '%', '?', ':', '(', ')', '[', ']', '{', '}', ',', '.', 'in', 'has(', 'size(', 'string(', 'int(', 'double(', 'matches(',
  '.contains(', '.startsWith(', '.endsWith(', '.size()', '.map(x,', '.all(x,', 'and', 'or', 'not', 'duration("1s")', 'timestamp("x")',
  'type(', 'dyn(', '__proto__', 'constructor', '.toString', '\n', '\u0000', '\u{1f600}', '//', '1 / 0', 'payload.n % 3',
]

const VALUES = {
  payload: { n: 7, text: 'hello', list: [1, 2, 'x', null], deep: { a: { b: 1 } }, none: null },
  event: { type: 'a.b', data: {} },
  trigger: { data: {} },
  run: { id: 'run_1' },
}

/** Null: refused, as expected. */
export const compiled = (text: string): Rule | null => {
  try {
    return compileRule(text)
  } catch (error) {
    if (!(error instanceof TrihandError) || error.code !== 'EXPR_REJECTED') throw error
    if ((error.place?.column ?? 0) < 1) throw new Error(`refused without a place: ${error.detail}`)
    return null
  }
}

/** Throws if the invariant is broken. */
export const ends = (text: string): void => {
  const answer = compiled(celText(text))?.(VALUES)
  if (answer?.kind === 'value') toJson(answer.value)
  else if (answer !== undefined && typeof answer.detail !== 'string') throw new Error('an error without words')
}

const tokens = fc.array(fc.constantFrom(...WORDS), { maxLength: 14 }).map((all) => all.join(' '))
const grown = fc.tuple(fc.constantFrom(...WORDS), fc.nat(300)).map(([word, times]) => word.repeat(times))

/** Meaningful expressions, so that rules are evaluated and not only refused. */
const { whole: sensible } = fc.letrec<{ readonly whole: string; readonly term: string }>((tie) => ({
  term: fc.constantFrom(
    'payload.n',
    'payload.text',
    'payload.list',
    'payload.none',
    '3',
    '2.5',
    '"hello"',
    'payload.missing',
    '[1, 2]',
  ),
  whole: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('term'),
    fc
      .tuple(tie('whole'), fc.constantFrom('==', '!=', '<', '>', '&&', '||', '+', '-', '*', 'in'), tie('whole'))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('whole'), tie('whole'), tie('whole')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    tie('whole').map((one) => `!(${one})`),
    fc.tuple(fc.constantFrom('size', 'string', 'int', 'double'), tie('term')).map(([call, one]) => `${call}(${one})`),
  ),
}))

const words = fc.oneof({ weight: 6, arbitrary: tokens }, { weight: 1, arbitrary: grown })
const anyText = fc.string({ unit: 'binary', maxLength: 60 })

export const EXPRESSIONS: Readonly<Record<'words' | 'sensible' | 'text', fc.Arbitrary<string>>> = {
  words,
  sensible,
  text: anyText,
}

export const anyExpression: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: words },
  { weight: 1, arbitrary: sensible },
  { weight: 1, arbitrary: anyText },
)
