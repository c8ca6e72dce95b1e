/** The version of this package, from the one place that knows it. */
import { readFileSync } from 'node:fs'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

export const VERSION = manifest.version
