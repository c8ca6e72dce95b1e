/**
 * `npm run test:loop -- --times 10 --load 4 [--only unit]`: repeats the tests under load and reports which ever failed.
 *
 * Owns the load: processes that only count, ended by their ids. Exits with 1 if any round failed. A test that fails once in ten rounds is
 * as wrong as one that always fails.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const SPIN = 'for (;;);'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '10' },
    load: { type: 'string', default: '0' },
    only: { type: 'string' },
  },
})

const countOf = (name, least) => {
  const count = Number(values[name])
  if (Number.isInteger(count) && count >= least) return count
  console.error(`--${name} is "${values[name]}"; expected a whole number from ${least} on`)
  process.exit(2)
}

const [times, load] = [countOf('times', 1), countOf('load', 0)]
const only = values.only === undefined ? [] : ['--only', values.only]

/** Runs one round and shows its output; returns its exit code and the lines that name failures. */
const play = () =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['scripts/test.mjs', ...only], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      process.stdout.write(chunk)
    })
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({ code, red: [...text.matchAll(/^failed in (.*)$/gm)].map(([, what]) => what) }),
    )
  })

const loads = Array.from({ length: load }, () => spawn(process.execPath, ['-e', SPIN], { stdio: 'ignore' }))
const endLoad = () => {
  for (const child of loads) child.kill('SIGKILL')
}
process.on('exit', endLoad)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

/** The failures, with the rounds in which they happened. */
const ever = new Map()
for (let round = 1; round <= times; round++) {
  console.log(`\n#### round ${round} of ${times}, beside a load of ${load}`)
  const { code, red } = await play()
  const named = red.length > 0 ? red : code === 0 ? [] : [`a round that named no test and ended with ${code}`]
  for (const what of new Set(named)) ever.set(what, [...(ever.get(what) ?? []), round])
}
endLoad()

for (const [what, rounds] of ever)
  console.log(`red in ${rounds.length} of ${times} rounds (${rounds.join(', ')}): ${what}`)
const redRounds = new Set([...ever.values()].flat()).size
console.log(`${times - redRounds} of ${times} rounds were green beside a load of ${load}`)
process.exitCode = redRounds > 0 ? 1 : 0
