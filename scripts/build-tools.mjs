/** Builds what is run but not published, into `.build/`: the bench, and the programs and helpers of the chaos tests. */
import { compile } from './lib/compile.mjs'

const folders = ['src', 'bench', 'test/chaos', 'test/support', 'scripts']

process.exitCode = compile({ config: 'tsconfig.tools.json', out: '.build', folders })
