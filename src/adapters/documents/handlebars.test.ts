/** Templates in Handlebars: the settings passed to the peer, and the error while it is not installed. */
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

test('without the package the error names the command that installs it (15.1.2)', async () => {
  const load = () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }))
  await expect(renderHandlebars('a.hbs', '', {}, load)).rejects.toThrow(
    'TEMPLATE_UNSUPPORTED: a.hbs is a Handlebars template; run: npm install handlebars',
  )
})

test('a template is recognised by its file extension alone (15.1.2)', () =>
  expect(['a.hbs', 'b/c.handlebars', 'hbs.md'].map(isHandlebars)).toEqual([true, true, false]))
