/**
 * `template_engine`: renders a Liquid template with variables to text.
 *
 * Owns the settings of Liquid: a missing variable is an error, only own properties are visible, no file is ever read, and a template that
 * grows or runs without end is stopped. The language is loaded with the first template.
 */
import type { Liquid } from 'liquidjs'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Executor } from '#ports/executor.ts'
import { answered, membersOf, membersOr, textAt, textOr } from './task-input.ts'

const LIMITS = { parseLimit: 100_000, renderLimit: 1_000, memoryLimit: 10_000_000 }
const FORMATS: ReadonlySet<string> = new Set(['text', 'markdown', 'html', 'json'])

/** Inside a text, a list or an object is written as JSON, and null as nothing. */
const written = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const createLiquid = async (): Promise<Liquid> => {
  const { Liquid: Language } = await import('liquidjs')
  return new Language({
    ...LIMITS,
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    lenientIf: true,
    // No files: by default `include`, `render` and `layout` read files of the working directory.
    templates: {},
    outputEscape: written,
  })
}

let language: Promise<Liquid> | null = null

const liquid = (): Promise<Liquid> => {
  language ??= createLiquid()
  return language
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''

const render = async (template: string, variables: object): Promise<string> => {
  const engine = await liquid()
  try {
    return String(await engine.parseAndRender(template, variables))
  } catch (error) {
    throw new TrihandError('TEMPLATE_ERROR', firstLine(error))
  }
}

export const templateEngine: Executor = {
  execute: ({ task: { input } }) =>
    answered(async () => {
      const task = membersOf(input)
      const engine = textOr(task, 'engine', 'liquid')
      if (engine !== 'liquid')
        throw new TrihandError('TEMPLATE_UNSUPPORTED', `the template engine ${engine} is not supported; use liquid`)
      const format = textOr(task, 'format', 'text')
      if (!FORMATS.has(format))
        throw new TrihandError('INPUT_INVALID', `task.format is not one of ${[...FORMATS].join(', ')}`)
      const content = await render(textAt(task, 'template'), membersOr(task, 'input_variables'))
      return { status: 'success', result: { content, format } }
    }),
}
