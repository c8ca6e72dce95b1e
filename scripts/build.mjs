/**
 * Builds the package: `src/` without tests into `dist/`, the web app into `dist/ui/`. `--if-changed` does nothing when the sources are
 * unchanged.
 */
import { fileURLToPath } from 'node:url'
import { build as buildWebApp } from 'vite'
import { bundle } from './lib/bundle.mjs'
import { compile } from './lib/compile.mjs'

/** The exports of package.json, and the entry that bin/ loads. */
const ENTRIES = [
  'index',
  'testing/index',
  'testing/suites',
  'adapters/dispatch/restate/restate',
  'adapters/dispatch/inngest/inngest',
  'adapters/models/claude-agent/claude-agent',
  'http/client/client',
  'cli/main',
]

const WEB_APP = fileURLToPath(new URL('../ui/vite.config.ts', import.meta.url))

const finish = async (folder) => {
  await bundle(folder, ENTRIES)
  // Tests build with another environment; the result must not depend on it.
  process.env.NODE_ENV = 'production'
  await buildWebApp({ configFile: WEB_APP, logLevel: 'warn', build: { outDir: `${folder}/ui` } })
}

process.exitCode = await compile({
  config: 'tsconfig.build.json',
  out: 'dist',
  folders: ['src', 'ui'],
  finish,
})
