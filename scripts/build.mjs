/** Builds what is published: `src/` without tests into `dist/`. `--if-changed` does nothing when the sources are the same. */
import { bundle } from './lib/bundle.mjs'
import { compile } from './lib/compile.mjs'

/** What package.json exports, and what bin/ loads. */
const ENTRIES = ['index', 'testing/index', 'adapters/restate/restate', 'adapters/inngest/inngest', 'cli/main']

process.exitCode = await compile({
  config: 'tsconfig.build.json',
  out: 'dist',
  folders: ['src'],
  finish: (folder) => bundle(folder, ENTRIES),
})
