/**
 * Plans as people write them down, one line for each step: `c. Send emails (requires steps a and b)`.
 *
 * Owns that format. The text does not say who does a step: its words are looked up among the names of handlers (manifest/plan/plans.ts).
 */
export interface WrittenStep {
  readonly id: string
  /** The line without its label and its requirements. */
  readonly name: string
  readonly requires: readonly string[]
  /** The text after a colon, without its quotes; null: there is none. */
  readonly text: string | null
}

export type PlanText =
  | { readonly kind: 'steps'; readonly steps: readonly WrittenStep[] }
  | { readonly kind: 'unread'; readonly line: number; readonly text: string }

const LINE = /^([A-Za-z0-9][\w-]*)[.)]\s+(\S.*)$/
const REQUIRES = /\s*\(\s*requires?\s+(?:steps?\s+)?([^()]+)\)\s*$/i
const SAID = /^[^:]+:\s*(?:"(.*)"|(.+))$/s

const stepOf = (line: string): WrittenStep | null => {
  const [, id, rest] = LINE.exec(line) ?? []
  if (id === undefined || rest === undefined) return null
  const requires = (REQUIRES.exec(rest)?.[1] ?? '').split(/[\s,]+/).filter((word) => word !== '' && word !== 'and')
  const name = rest.replace(REQUIRES, '').trim()
  const [, quoted, bare] = SAID.exec(name) ?? []
  return { id, name, requires, text: quoted ?? bare ?? null }
}

/** Returns every non-empty line with its number; `step` is null if the line is not a step. */
export const planLines = (
  text: string,
): readonly { readonly line: number; readonly text: string; readonly step: WrittenStep | null }[] =>
  text
    .split('\n')
    .map((line, i) => ({ line: i + 1, text: line.trim(), step: stepOf(line.trim()) }))
    .filter((line) => line.text !== '')

export const readPlanText = (text: string): PlanText => {
  const lines = planLines(text)
  const unread = lines.find(({ step }) => step === null)
  if (unread !== undefined) return { kind: 'unread', line: unread.line, text: unread.text }
  return { kind: 'steps', steps: lines.flatMap(({ step }) => step ?? []) }
}

/** Writes steps in the same format, for a plan that was not written as text. */
export const writePlanText = (
  steps: readonly { readonly id: string; readonly name: string; readonly requires: readonly string[] }[],
): string =>
  steps
    .map(({ id, name, requires }) => {
      const behind =
        requires.length === 0 ? '' : ` (requires ${requires.length > 1 ? 'steps' : 'step'} ${joined(requires)})`
      return `${id}. ${name}${behind}`
    })
    .join('\n')

const joined = (words: readonly string[]): string => words.join(', ').replace(/, ([^,]+)$/, ' and $1')

/** Returns the name that a handler for the step would have. */
export const slugOf = ({ name }: Pick<WrittenStep, 'name'>): string =>
  (name.split(':')[0] ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
