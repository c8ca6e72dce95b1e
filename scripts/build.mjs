/** Builds what is published: `src/` without tests into `dist/`. `--if-changed` does nothing when the sources are the same. */
import { compile } from './lib/compile.mjs'

process.exitCode = compile({ config: 'tsconfig.build.json', out: 'dist', folders: ['src'] })
