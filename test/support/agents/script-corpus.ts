/**
 * Data that tries to run as code, and a page that is watched for its effects.
 *
 * Owns the corpus and the definition of harm: a variable was set, a dialog opened, the policy was violated, the page navigated away.
 */
import { expect } from 'vitest'
import type { TestBrowser, WatchedPage } from '#test/support/serving/browser.ts'

/** Each of them would set `ran`, open a dialog, or fetch from elsewhere. */
export const CORPUS = [
  '<script>globalThis.ran=1</script>',
  '"><script>globalThis.ran=1</script>',
  '</title></textarea><script>globalThis.ran=1</script>',
  '<img src=x onerror="globalThis.ran=1">',
  '\'"><img src=x onerror=alert(1)>',
  '<svg/onload=globalThis.ran=1>',
  '<svg><animate onbegin=globalThis.ran=1 attributeName=x dur=1s>',
  '<iframe srcdoc="<script>parent.ran=1</script>"></iframe>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=globalThis.ran=1>',
  '<a href="javascript:globalThis.ran=1">here</a>',
  'javascript:globalThis.ran=1',
  '[here](javascript:globalThis.ran=1) ![x](https://evil.example/x.png)',
  '<base href="https://evil.example/"><link rel=stylesheet href="https://evil.example/x.css">',
  '<style>@import "https://evil.example/x.css"; * { background: url(https://evil.example/x) }</style>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
  '<form action="https://evil.example/"><input autofocus onfocus=globalThis.ran=1></form>',
  '{{constructor.constructor("globalThis.ran=1")()}}',
  `\${globalThis.ran=1}`,
  '<details open ontoggle=globalThis.ran=1>',
  '\u202e<script>globalThis.ran=1</script>',
] as const

const PER_DOSE = 6

/** The same in a few long texts, one paragraph each, for tests in which every text costs a page or a turn. */
export const DOSES: readonly string[] = CORPUS.filter((_, i) => i % PER_DOSE === 0).map((_, dose) =>
  CORPUS.slice(dose * PER_DOSE, (dose + 1) * PER_DOSE).join('\n\n'),
)

export interface Poisoned {
  readonly watched: WatchedPage
  /** Fails if anything that the page shows had an effect. */
  expectHarmless(): Promise<void>
}

export const openPoisoned = async (browser: TestBrowser, url: string): Promise<Poisoned> => {
  const watched = await browser.open()
  const { page, faults } = watched
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.message())
    return dialog.dismiss()
  })
  const expectHarmless = async (): Promise<void> => {
    expect(await page.evaluate(() => (globalThis as { ran?: number }).ran ?? null)).toBeNull()
    expect(asked).toEqual([])
    expect(faults).toEqual([])
    expect(new URL(page.url()).origin).toBe(url)
  }
  return { watched, expectHarmless }
}
