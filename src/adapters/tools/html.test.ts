/** HTML pages as text: what is kept, and the limits for hostile pages. */
import { describe, expect, test } from 'vitest'
import { htmlToText } from './html.ts'

describe('a page', () => {
  test('keeps headings, lists and text', async () => {
    const text = await htmlToText('<h1>One</h1><ul><li>a<li>b</ul><p>x &amp; y</p><a href="#top">up</a>')
    expect(text).toContain('One')
    expect(text).toMatch(/\* a\n \* b/)
    expect(text).toContain('x & y')
    expect(text).not.toContain('#top')
  })

  test('that nests too deep loses its structure and keeps its words', async () => {
    expect(await htmlToText(`${'<div>'.repeat(90_000)}deep`)).toContain('deep')
    expect(await htmlToText(`${'<div></span>'.repeat(40_000)}deep`)).toContain('deep')
    expect(await htmlToText(`deep${'<div '.repeat(100_000)}`)).toContain('deep')
  })

  test('with many sibling elements keeps its structure', async () => {
    const rows = Array.from({ length: 3_000 }, (_, i) => `<p>line ${i}<br><b>x</b>`).join('')
    expect(await htmlToText(rows)).toContain('line 2999')
  })

  test('that is too long is cut, and ends with an ellipsis', async () => {
    const text = await htmlToText(`<pre>${'x'.repeat(1_000_000)}</pre>`)
    expect(text.length).toBeLessThan(600_000)
    expect(text).toMatch(/…$/)
  })

  test.each(['', '<', '<<<>>>', '<!-- ', '<a href=', '\u0000', '<p', '</p></p>'])(
    'that is malformed, %j, still becomes text',
    async (html) => {
      expect(typeof (await htmlToText(html))).toBe('string')
    },
  )
})
