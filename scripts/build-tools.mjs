/** Builds programs that are run but not published into `.build/`: the bench, and the programs and helpers of the chaos tests. */
import { copyFileSync } from 'node:fs'
import { bundle } from './lib/bundle.mjs'
import { compile } from './lib/compile.mjs'

/** Processes whose start is measured are bundled like the published package. */
const CHILDREN = ['boot', 'checked', 'long', 'manifest', 'nothing', 'park', 'worker'].map(
  (name) => `bench/children/${name}`,
)

process.exitCode = await compile({
  config: 'tsconfig.tools.json',
  out: '.build',
  folders: ['src', 'bench', 'test/chaos', 'test/support', 'scripts'],
  finish: (folder) => {
    // Sources read their version two levels above themselves.
    copyFileSync(new URL('../package.json', import.meta.url), `${folder}/package.json`)
    return bundle(folder, CHILDREN, `${folder}/joined`)
  },
})
