/**
 * A real Chromium for tests: one on the machine, or the one from npm.
 *
 * Owns finding and starting it, and the faults that fail any page: an error on its console, a violation of its policy, a request elsewhere.
 * TRIHAND_SLOW_PAGE=10 makes every page ten times as slow and its server as far away, which reveals steps that rely on luck. axe is then
 * skipped: its long check would hide them.
 * TRIHAND_SLOW_HAND=1000 waits that many ms after every click and key: late elements are then drawn, and a locator that also matches them
 * fails.
 * TRIHAND_SHUFFLE_PAGE=1000 delays every answer of the server by up to that many ms, so that parts of a screen are drawn in any order.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { temporaryFolder } from '#test/support/places.ts'
import { Random } from '#test/support/random.ts'
import { until } from '#test/support/until.ts'

/** Set by browser-setup.ts for all test files, or by the user. Read before any call of the command replaces the environment. */
const { CHROME_PATH: CHROMIUM } = process.env
const NAMES = ['google-chrome', 'chromium', 'chromium-browser']

const onThePath = (): string | null => {
  for (const name of NAMES) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim()
    } catch {
      // Not this one.
    }
  }
  return null
}

/** The packed Chromium needs a font configuration of ours: its own one knows only the default folder. */
const unpacked = async (folder: string): Promise<string> => {
  process.env['AWS_LAMBDA_JS_RUNTIME'] ??= 'nodejs20.x'
  const { TMPDIR: before } = process.env
  process.env['TMPDIR'] = folder
  const { default: packed } = await import('@sparticuz/chromium')
  const path = await packed.executablePath()
  if (before === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = before
  const fonts = join(folder, 'fonts')
  mkdirSync(fonts, { recursive: true })
  const configuration = join(folder, 'fonts.conf')
  writeFileSync(
    configuration,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${fonts}</dir><cachedir>${folder}/cache</cachedir></fontconfig>`,
  )
  process.env['FONTCONFIG_FILE'] = configuration
  return path
}

/** The path of a Chromium; the one from npm is unpacked into the folder. */
export const findChromium = async (folder: string): Promise<string> => CHROMIUM ?? onThePath() ?? unpacked(folder)

export interface TestBrowser {
  /** Opens a page that records its faults. */
  open(options?: { readonly scheme?: 'light' | 'dark' }): Promise<WatchedPage>
  close(): Promise<void>
}

export interface WatchedPage {
  readonly page: Page
  readonly faults: readonly string[]
  /** Opens another tab of the same browser. */
  tab(): Promise<Page>
  close(): Promise<void>
}

const watch = (page: Page): string[] => {
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    if (!/^(http:\/\/127\.0\.0\.1|data:|blob:)/.test(request.url())) faults.push(`a request to ${request.url()}`)
  })
  return faults
}

/** The factor by which pages are slowed down. */
const SLOWER = Number(process.env['TRIHAND_SLOW_PAGE'] ?? 1)
const SLOW_HAND_MS = Number(process.env['TRIHAND_SLOW_HAND'] ?? 0)
const SHUFFLE_MS = Number(process.env['TRIHAND_SHUFFLE_PAGE'] ?? 0)
const MORE_MS = 20
const PATIENCE_MS = 30_000

/** Delays every answer but the live stream, which stays open, by a random time. */
const shuffle = async (page: Page): Promise<void> => {
  const random = new Random(SHUFFLE_MS)
  await page.route(/\/api\/(?!stream)/, async (route) => {
    await new Promise<void>((resolve) => void setTimeout(resolve, random.below(SHUFFLE_MS)))
    // The page may have been closed since.
    await route.continue().catch(() => {})
  })
}

const slowDown = async (page: Page): Promise<Page> => {
  if (SHUFFLE_MS > 0) await shuffle(page)
  if (SLOWER === 1) return page
  page.setDefaultTimeout(PATIENCE_MS * SLOWER)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  const asFastAsItIs = { offline: false, downloadThroughput: -1, uploadThroughput: -1 }
  await devtools.send('Network.emulateNetworkConditions', { ...asFastAsItIs, latency: MORE_MS * SLOWER })
  return page
}

export const startBrowser = async (): Promise<TestBrowser> => {
  const folder = temporaryFolder('browser')
  const executablePath = await findChromium(folder.path)
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], slowMo: SLOW_HAND_MS })
  return {
    open: async ({ scheme = 'light' } = {}) => {
      // Without motion: an element has wrong colours while it fades in.
      const context = await browser.newContext({
        colorScheme: scheme,
        reducedMotion: 'reduce',
        viewport: { width: 1280, height: 800 },
      })
      const another = async (): Promise<Page> => slowDown(await context.newPage())
      const page = await another()
      return { page, faults: watch(page), tab: another, close: () => context.close() }
    },
    close: async () => {
      await browser.close()
      folder.remove()
    },
  }
}

/** Opens an address, and waits until its screen is loaded. */
export const visit = async (page: Page, address: string): Promise<void> => {
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).waitFor()
}

/** Waits until everything that a screen requests has arrived, because its parts load separately. */
export const hasLoaded = async (page: Page): Promise<void> => {
  const busy = page.locator('[aria-busy=true]')
  await until(
    () => busy.count(),
    (count) => count === 0,
    { timeoutMs: 30_000, what: `${page.url()} has come to rest` },
  )
}

/** Opens an address in a new page. */
export const openAt = async (browser: TestBrowser, address: string): Promise<WatchedPage> => {
  const watched = await browser.open()
  await visit(watched.page, address)
  return watched
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']

type Axe = {
  run(
    root: unknown,
    options: unknown,
  ): Promise<{ violations: { id: string; nodes: { target: unknown; failureSummary?: string }[] }[] }>
}

const loadAxe = async (page: Page): Promise<void> => {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(readFileSync(AXE, 'utf8'))
}

const findings = (page: Page, part: string, rules: object): Promise<readonly string[]> =>
  page.evaluate(
    async ([runOnly, root]) => {
      const { axe } = globalThis as unknown as { axe: Axe }
      const { violations } = await axe.run(root, { runOnly, resultTypes: ['violations'] })
      return violations.map(({ id, nodes }) => `${id} ${String(nodes[0]?.target)}: ${nodes[0]?.failureSummary ?? ''}`)
    },
    [rules, part] as const,
  )

/** Waits for transitions, whose colours are neither old nor new. An endless animation is not a transition. */
const atRest = (scheme: string): string => `(async () => {
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const root = document.documentElement
  while ((root.dataset.mantineColorScheme ?? '${scheme}') !== '${scheme}') await nextFrame()
  await nextFrame()
  await nextFrame()
  const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity)
  // One that was taken back has ended too.
  await Promise.allSettled(ending.map(({ finished }) => finished))
})()`

const EVERYTHING = { type: 'tag', values: RULES }
/** The rules that depend on light or dark: the rest of the page is the same. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/** The findings of axe for the current page or a part of it, in light only. */
export const axeFindingsInLight = async (page: Page, part = 'html'): Promise<readonly string[]> => {
  if (SLOWER > 1) return []
  await loadAxe(page)
  await page.evaluate(atRest('light'))
  return findings(page, part, EVERYTHING)
}

/** The findings of axe for the current page or a part of it, in light and in dark, one line each. */
export const axeFindings = async (page: Page, part = 'html'): Promise<readonly string[]> => {
  if (SLOWER > 1) return []
  const inLight = await axeFindingsInLight(page, part)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.evaluate(atRest('dark'))
  const inDark = await findings(page, part, COLOURS)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.evaluate(atRest('light'))
  return [...inLight, ...inDark.map((line) => `in dark: ${line}`)]
}

/** Presses one key after another, as fast as possible. */
export const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key)
}
