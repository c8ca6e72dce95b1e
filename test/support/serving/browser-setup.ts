/**
 * Vitest's global set-up for browser tests: builds the package, and finds or unpacks a Chromium, once for all files.
 *
 * Passes its path in CHROME_PATH, which users may also set.
 */
import { temporaryFolder } from '#test/support/places.ts'
import { findChromium } from './browser.ts'
import { buildCommand } from './command.ts'

let folder: ReturnType<typeof temporaryFolder> | null = null

export const setup = async (): Promise<void> => {
  buildCommand()
  folder = temporaryFolder('chromium')
  process.env['CHROME_PATH'] = await findChromium(folder.path)
}

export const teardown = (): void => folder?.remove()
