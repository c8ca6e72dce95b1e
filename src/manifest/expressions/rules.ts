/**
 * Compiles CEL text to a Rule: a small, total subset that cannot loop, hang or access anything outside its roots.
 *
 * Owns the configuration of the expression language and what is refused at load, with the place and a hint.
 * Never evaluates on its own: route and advance call the Rule and put the answer into a command.
 */
import { createRequire } from 'node:module'
import type { Environment } from '@marcbachmann/cel-js'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { nearest } from '#model/kernel/nearest.ts'
import type { Rule, RuleAnswer } from '#model/kernel/rule.ts'

const MAX_LENGTH = 1_000
const MAX_ADDITIONS = 4
const ROOTS = ['event', 'payload', 'trigger', 'run']
/** What `emits.when` may read: how the handler ended, and what started it. */
export const EMIT_ROOTS = [...ROOTS, 'output', 'result', 'agent', 'error']

const OPERATORS = new Set([
  'value',
  'id',
  '.',
  '[]',
  'list',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  '&&',
  '||',
  '!_',
  '-_',
  '?:',
  '+',
  '-',
  '*',
  '/',
  '%',
  'call',
  'rcall',
])
const CALLS = new Set(['has', 'size', 'string', 'int', 'double'])
const METHODS = new Set(['contains', 'startsWith', 'endsWith', 'size'])

interface Node {
  readonly op: string
  readonly args: unknown
  readonly pos: number
}

type Arithmetic = (left: number | bigint, right: number | bigint) => number

const ARITHMETIC: Readonly<Record<string, Arithmetic>> = {
  '+': (left, right) => Number(left) + Number(right),
  '-': (left, right) => Number(left) - Number(right),
  '*': (left, right) => Number(left) * Number(right),
  '/': (left, right) => Number(left) / Number(right),
  '%': (left, right) => Number(left) % Number(right),
}

/**
 * The language is loaded with the first rule: most systems have none, and it is a tenth of their start time. By `require`, because a mistake
 * in a rule is reported where the rule is written, and that code is synchronous.
 */
const language = (): typeof import('@marcbachmann/cel-js') => createRequire(import.meta.url)('@marcbachmann/cel-js')

/** One for each set of roots: creating one costs more than a rule does, and they never change. */
const environments = new Map<string, Environment>()

const environmentFor = (roots: readonly string[]): Environment => {
  const key = roots.join(' ')
  const known = environments.get(key)
  if (known !== undefined) return known
  const made = createEnvironment(roots)
  environments.set(key, made)
  return made
}

const createEnvironment = (roots: readonly string[]): Environment => {
  const { Environment: Language } = language()
  const environment = new Language({
    unlistedVariablesAreDyn: false,
    homogeneousAggregateLiterals: true,
    enableOptionalTypes: false,
    limits: { maxAstNodes: 200, maxDepth: 32, maxListElements: 64, maxMapEntries: 0, maxCallArguments: 1 },
  })
  for (const root of roots) environment.registerVariable(root, 'dyn')
  // JSON numbers are doubles and literals are ints: without these `payload.n + 1` throws, and without `: double` it compares wrongly.
  for (const [operator, apply] of Object.entries(ARITHMETIC)) {
    environment.registerOperator(`double ${operator} int: double`, apply)
    environment.registerOperator(`int ${operator} double: double`, apply)
  }
  environment.registerOperator('double % double: double', ARITHMETIC['%'] as Arithmetic)
  return environment
}

/** The names among these that can be used as values: the others are keywords of the language. */
export const rootsAmong = (names: readonly string[]): readonly string[] => {
  const { Environment: Language } = language()
  const environment = new Language({ unlistedVariablesAreDyn: false })
  return names.filter((name) => {
    try {
      environment.registerVariable(name, 'dyn')
      return true
    } catch {
      return false
    }
  })
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value

const childrenOf = (value: unknown): readonly Node[] => {
  if (isNode(value)) return [value]
  return Array.isArray(value) ? value.flatMap(childrenOf) : []
}

const refused = (text: string, position: number, problem: string, cause?: unknown): TrihandError =>
  new TrihandError('EXPR_REJECTED', `${problem} in "${text}"`, { place: { line: 1, column: position + 1 }, cause })

const checkCall = (text: string, node: Node): void => {
  const name = String((node.args as readonly unknown[])[0])
  const allowed = node.op === 'call' ? CALLS : METHODS
  if (!allowed.has(name))
    throw refused(text, node.pos, `the function ${name} is not allowed; use ${[...allowed].join(', ')}`)
}

const checkDivisor = (text: string, node: Node): void => {
  const right = (node.args as readonly unknown[])[1]
  const literal = isNode(right) && right.op === 'value' ? Number(right.args) : Number.NaN
  if (!Number.isFinite(literal) || literal === 0)
    throw refused(text, node.pos, `the right side of ${node.op} must be a number other than zero`)
}

/** The grammar is CEL's; this list says which part of it may be used. */
const checkTree = (text: string, root: Node): void => {
  let additions = 0
  const pending: Node[] = [root]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!OPERATORS.has(node.op)) throw refused(text, node.pos, `${node.op} is not allowed`)
    if (node.op === 'value' && typeof node.args === 'object' && node.args !== null)
      throw refused(text, node.pos, 'bytes and unsigned numbers are not allowed')
    if (node.op === 'call' || node.op === 'rcall') checkCall(text, node)
    if (node.op === '/' || node.op === '%') checkDivisor(text, node)
    // Adding lists grows them quickly; a handful of additions is enough for any rule.
    if (node.op === '+' && ++additions > MAX_ADDITIONS)
      throw refused(text, node.pos, `more than ${MAX_ADDITIONS} additions`)
    if (node.op !== 'value') pending.push(...childrenOf(node.args))
  }
}

/** CEL's integers are bigints, which JSON does not have; and arithmetic may leave the range of JSON's numbers. */
const plain = (value: unknown): Json => {
  if (typeof value === 'bigint') return plain(Number(value))
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Error(`gives ${value}, which is not a JSON number`)
  if (Array.isArray(value)) return value.map(plain)
  return value as Json
}

/** Translates the language's messages about its bounds into advice. */
const BOUNDS: Readonly<Record<string, string>> = {
  maxMapEntries:
    'an expression cannot contain a map in braces; compare fields one by one, or quote a template: "{{ … }}"',
  maxAstNodes: 'the expression has more than 200 parts; split it, or decide in a function',
  maxDepth: 'the expression nests deeper than 32; split it, or decide in a function',
  maxListElements: 'a list in an expression can have at most 64 elements',
  maxCallArguments: 'a function in an expression takes one argument',
}

const inWords = (problem: string, text: string, position: number, roots: readonly string[]): string => {
  const [, bound = ''] = /^Exceeded (\w+)/.exec(problem) ?? []
  if (Object.hasOwn(BOUNDS, bound)) return BOUNDS[bound] ?? problem
  const [, name] = /^Unknown variable: (\w+)/.exec(problem) ?? []
  if (name !== undefined) {
    const near = nearest(name, [...roots])
    return `${name} is unknown here${near === null ? '' : ` (did you mean ${near}?)`}; expected one of ${roots.join(', ')}`
  }
  if (/^Unexpected character: =/.test(problem) && text[position + 1] !== '=') return 'write == to compare'
  return problem
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''

const positionOf = (error: unknown): number => {
  const range = (error as { range?: { start?: number } }).range
  return typeof range?.start === 'number' ? range.start : 0
}

export const compileRule = (text: string, roots: readonly string[] = ROOTS): Rule => {
  if (text.length > MAX_LENGTH) throw refused(`${text.slice(0, 40)}…`, 0, `more than ${MAX_LENGTH} characters`)
  const environment = environmentFor(roots)
  const expression = parseRule(environment, text, roots)
  checkTree(text, expression.ast as unknown as Node)
  const checked = expression.check()
  if (!checked.valid) {
    const { error } = checked
    const position = positionOf(error)
    throw refused(text, position, inWords(firstLine(error), text, position, roots), error)
  }
  return (values): RuleAnswer => {
    try {
      return { kind: 'value', value: plain(expression(values)) }
    } catch (error) {
      return { kind: 'error', detail: firstLine(error) }
    }
  }
}

const parseRule = (
  environment: Environment,
  text: string,
  roots: readonly string[],
): ReturnType<Environment['parse']> => {
  try {
    return environment.parse(text)
  } catch (error) {
    const position = positionOf(error)
    throw refused(text, position, inWords(firstLine(error), text, position, roots), error)
  }
}
