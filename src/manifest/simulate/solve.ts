/**
 * Finds data for which a condition is true, by trying: values that the condition itself names, then others.
 *
 * Owns the hints taken from a text. Bounded: after fifty tries a condition counts as unsolved.
 */
import { compileRule } from '#manifest/expressions/rules.ts'
import { ROOTS } from '#manifest/yaml/parse/expression.ts'
import { isRecord, type JsonRecord } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Roll } from './sample.ts'

const MAX_TRIES = 50
const TEXT = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`
const PATH = String.raw`((?:payload|output|result|agent|event)(?:\.[A-Za-z_]\w*)+)`
const COMPARED = new RegExp(String.raw`${PATH}\s*(==|!=|<=|>=|<|>)\s*(${TEXT}|-?\d+(?:\.\d+)?|true|false|null)`, 'g')
const CALLED = new RegExp(String.raw`${PATH}\.(?:contains|startsWith|endsWith)\(\s*(${TEXT})\s*\)`, 'g')
const LISTED = new RegExp(String.raw`${PATH}\s+in\s+\[([^\]]*)\]`, 'g')
const NAMED = new RegExp(PATH, 'g')

interface Hint {
  readonly path: readonly string[]
  readonly values: readonly Json[]
}

/** The roots of the condition: the trigger's data, and the handler's output. */
export interface Roots {
  readonly payload: Json
  readonly output: Json
}

const literal = (text: string): Json => {
  if (/^["']/.test(text)) return text.slice(1, -1).replace(/\\(.)/g, '$1')
  return JSON.parse(text) as Json
}

const around = (value: Json): readonly Json[] =>
  typeof value === 'number'
    ? [value, value + 1, value - 1]
    : typeof value === 'string'
      ? [value, `${value}-other`, ...(value.trim() !== '' && Number.isFinite(Number(value)) ? [Number(value)] : [])]
      : [value, true, false]

/** `agent.x` and `result.x` are fields of the output, `event.data.x` of the payload. */
const pathOf = (text: string): readonly string[] => {
  const [root = '', ...rest] = text.split('.')
  if (root === 'event') return ['payload', ...(rest[0] === 'data' ? rest.slice(1) : rest)]
  if (root === 'agent') return ['output', ...(rest[0] === 'output' ? rest.slice(1) : rest)]
  return [root === 'result' ? 'output' : root, ...rest]
}

/** A conversion does not matter for which value is compared. */
const CONVERTED = /\b(?:int|double|string|uint)\(([^()]*)\)/g

const hintsOf = (written: string): readonly Hint[] => hintsIn(written.replace(CONVERTED, '$1'))

const hintsIn = (text: string): readonly Hint[] => [
  ...[...text.matchAll(COMPARED)].map(([, path = '', , value = '']) => ({
    path: pathOf(path),
    values: around(literal(value)),
  })),
  ...[...text.matchAll(CALLED)].map(([, path = '', value = '']) => ({ path: pathOf(path), values: [literal(value)] })),
  ...[...text.matchAll(LISTED)].map(([, path = '', values = '']) => ({
    path: pathOf(path),
    values: (values.match(new RegExp(`${TEXT}|-?\\d+`, 'g')) ?? []).map(literal),
  })),
  ...[...text.matchAll(NAMED)].map(([, path = '']) => ({ path: pathOf(path), values: [true, false] })),
]

const withValue = (value: Json, [head, ...rest]: readonly string[], set: Json): Json => {
  if (head === undefined) return set
  const members: JsonRecord = isRecord(value) ? value : {}
  return { ...members, [head]: withValue(members[head] ?? null, rest, set) }
}

const rootsOf = ({ payload, output }: Roots): JsonRecord => ({
  payload,
  output,
  result: output,
  agent: isRecord(output) ? { ...output, output, status: 'success' } : { output, status: 'success' },
  event: { data: payload, type: '' },
  trigger: { data: payload },
  error: { code: '' },
  run: { id: 'run' },
})

/** True if a condition is true; a condition that cannot be evaluated is not. */
const holds = (text: string, roots: Roots): boolean => {
  const answer = compileRule(text, ROOTS)(rootsOf(roots))
  return answer.kind === 'value' && answer.value === true
}

/** The value of an expression, or null if it has none. */
export const valueIn = (text: string, roots: Roots): Json => {
  const answer = compileRule(text, ROOTS)(rootsOf(roots))
  return answer.kind === 'value' ? answer.value : null
}

const applied = (roots: Roots, hints: readonly Hint[], choose: (hint: Hint, i: number) => Json | undefined): Roots =>
  hints.reduce<Roots>((changed, hint, i) => {
    const value = choose(hint, i)
    return value === undefined ? changed : (withValue(changed as unknown as Json, hint.path, value) as unknown as Roots)
  }, roots)

/** `free`: the roots that may be changed; `fits`: whether the changed roots are allowed. Null: nothing was found. */
export const solve = (
  text: string,
  roots: Roots,
  roll: Roll,
  free: readonly (keyof Roots)[],
  fits: (tried: Roots) => boolean = () => true,
): Roots | null => {
  if (holds(text, roots)) return roots
  const hints = hintsOf(text).filter(({ path, values }) => free.includes(path[0] as keyof Roots) && values.length > 0)
  // Bare names come last, so that a flag does not overwrite a value that is compared.
  const compared = new Set(hints.filter(({ values }) => values[0] !== true).map(({ path }) => path.join('.')))
  const useful = hints.filter(({ path, values }) => values[0] !== true || !compared.has(path.join('.')))
  for (let n = 0; n < MAX_TRIES; n++) {
    const tried = applied(roots, useful, ({ values }) => {
      if (n < 3) return values[n % values.length]
      return roll() < 0.2 ? undefined : values[Math.floor(roll() * values.length)]
    })
    if (holds(text, tried) && fits(tried)) return tried
  }
  return null
}
