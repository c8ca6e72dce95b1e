/**
 * `npm run numbers`: writes the figures of the last measured runs (bench.json, reliability.json) into README.md.
 *
 * A figure in a document comes from a run or is not there. `--check` only says whether README.md is fresh.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const read = (name) => (existsSync(at(name)) ? JSON.parse(readFileSync(at(name), 'utf8')) : null)

const short = (value) =>
  value >= 1_000 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(3)).toString()

const bound = ({ target, unit }) =>
  target === null
    ? ''
    : `${target.is === 'at_most' ? '≤' : '≥'} ${short(target.bound)} ${target.of === 'ratio' ? '× raw' : unit}`

const benchTable = (bench) => {
  if (bench === null) return 'Not measured yet: `npm run bench -- --out bench.json`.'
  const rows = bench.results.map((result) => {
    const ratio = result.ratio === null ? '' : `${short(result.ratio)} × ${short(result.raw)}`
    const holds = result.holds === null ? '' : result.holds ? 'yes' : '**no**'
    return `| ${result.workload} | ${result.ledger} | ${result.metric} | ${short(result.value)} ${result.unit} | ${ratio} | ${bound(result)} | ${holds} |`
  })
  return [
    `Measured with Node ${bench.node} on ${bench.cores} cores, ${bench.rounds} rounds, medians. Raw is what the same driver does with nothing on top, in the same run.`,
    '',
    '| | ledger | figure | value | of raw | must | holds |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

const reliabilityTable = (report) => {
  if (report === null) return 'Not run yet: `npm run test:chaos`.'
  const rows = report.stages.map(({ name, status, operations, checks, violations, seconds }) =>
    status === 'skipped'
      ? `| ${name} | not run | | | |`
      : `| ${name} | ${short(operations)} | ${short(checks)} | ${violations} | ${Math.round(seconds)} |`,
  )
  return ['| stage | operations | checks | violations | seconds |', '|---|---|---|---|---|', ...rows].join('\n')
}

const fill = (text, name, content) => {
  const [from, to] = [`<!-- ${name}: written by scripts/numbers.mjs -->`, `<!-- /${name} -->`]
  const begin = text.indexOf(from)
  const end = text.indexOf(to)
  if (begin < 0 || end < 0) throw new Error(`README.md has no place for ${name}`)
  return `${text.slice(0, begin + from.length)}\n${content}\n${text.slice(end)}`
}

const before = readFileSync(at('README.md'), 'utf8')
const after = fill(
  fill(before, 'bench', benchTable(read('bench.json'))),
  'reliability',
  reliabilityTable(read('reliability.json')),
)
if (process.argv.includes('--check')) {
  if (before !== after) {
    console.error('README.md does not show the last measured run: npm run numbers')
    process.exit(1)
  }
} else writeFileSync(at('README.md'), after)
