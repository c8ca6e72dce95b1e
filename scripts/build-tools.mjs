/** Builds what is run but not published, into `.build/`: the bench, and the programs and helpers of the chaos tests. */
import { bundle } from './lib/bundle.mjs'
import { compile } from './lib/compile.mjs'

/** Processes whose start is measured are joined like what is published. */
const CHILDREN = ['boot', 'checked', 'long', 'manifest', 'nothing', 'park', 'worker'].map(
  (name) => `bench/children/${name}`,
)

process.exitCode = await compile({
  config: 'tsconfig.tools.json',
  out: '.build',
  folders: ['src', 'bench', 'test/chaos', 'test/support', 'scripts'],
  finish: (folder) => bundle(folder, CHILDREN, `${folder}/joined`),
})
