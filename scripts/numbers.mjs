/**
 * `npm run numbers`: writes the figures of the last measured runs (bench.json, reliability.json) into README.md and docs/numbers.md.
 *
 * Every figure in a document comes from a run. The README shows a figure of each of W1 to W7 on SQLite, and every missed one;
 * docs/numbers.md shows all. `--check` only reports whether both are up to date.
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

/** The workloads that every system of this kind can be compared by; the others are in docs/numbers.md. */
const SHARED = /^W[1-7]$/
const OF_EACH = 1

const isShownFirst = (result, _, all) => {
  const isAlike = ({ target, ledger, workload }) =>
    target !== null && ledger === 'sqlite' && workload === result.workload
  const isCompared = SHARED.test(result.workload) && all.filter(isAlike).slice(0, OF_EACH).includes(result)
  return result.holds === false || isCompared
}

const benchTable = (bench, isShown = () => true) => {
  if (bench === null) return 'Not measured yet: `npm run bench -- --out bench.json`.'
  const rows = bench.results.filter(isShown).map((result) => {
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
  if (begin < 0 || end < 0) throw new Error(`there is no place for ${name}`)
  return `${text.slice(0, begin + from.length)}\n${content}\n${text.slice(end)}`
}

const bench = read('bench.json')
const contents = {
  'README.md': { bench: benchTable(bench, isShownFirst), reliability: reliabilityTable(read('reliability.json')) },
  'docs/numbers.md': { bench: benchTable(bench) },
}
for (const [file, parts] of Object.entries(contents)) {
  const before = readFileSync(at(file), 'utf8')
  const after = Object.entries(parts).reduce((text, [name, content]) => fill(text, name, content), before)
  if (!process.argv.includes('--check')) writeFileSync(at(file), after)
  else if (before !== after) {
    console.error(`${file} does not show the last measured run: npm run numbers`)
    process.exitCode = 1
  }
}
