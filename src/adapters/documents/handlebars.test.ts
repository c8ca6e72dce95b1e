/** Templates in Handlebars: the settings that the peer is given, and what is said while it is not installed. */
import { expect, test } from 'vitest'
import { isHandlebars, renderHandlebars } from './handlebars.ts'

test('a template is filled in strictly and without escaping (15.1.2)', async () => {
  const given: unknown[] = []
  const compile = (text: string, options: unknown) => (roots: object) => {
    given.push(text, options, roots)
    return 'filled'
  }
  const text = await renderHandlebars('a.hbs', '{{x}}', { x: 1 }, async () => ({ default: { compile } }))
  expect([text, given]).toEqual(['filled', ['{{x}}', { strict: true, noEscape: true }, { x: 1 }]])
})

test('without the package the line that installs it is named (15.1.2)', async () => {
  const load = () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }))
  await expect(renderHandlebars('a.hbs', '', {}, load)).rejects.toThrow(
    'TEMPLATE_UNSUPPORTED: a.hbs is a Handlebars template; run: npm install handlebars',
  )
})

test('only the ending counts (15.1.2)', () =>
  expect(['a.hbs', 'b/c.handlebars', 'hbs.md'].map(isHandlebars)).toEqual([true, true, false]))
