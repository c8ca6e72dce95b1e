/**
 * Vitest's global set-up for tests in a browser: what is published is built, and a Chromium is found or unpacked, once for all files.
 *
 * Names it to them by CHROME_PATH, as anybody may who has one of their own.
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
