/**
 * `npm run features`: writes docs/features.md, every feature with the tests that prove it, from the reports of the last test run.
 *
 * A test proves a feature by the id in its title, `[H4] a burst is one run`, if it passed wherever it ran. docs/features.json lists the
 * features. Exits with 1 for an unknown id, and for a feature whose tests use no entry point of users (lib/doors.mjs). `--check` only
 * reports whether the page is up to date.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { doorNames, doorsOf } from './lib/doors.mjs'

const at = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const PAGE = 'docs/features.md'
const REPORTS = '.test-output'
/** Other letters name promises, invariants and known failures of peers (ARCHITECTURE.md). */
const ID = /\[([A-P]\d{1,2})\]/g

const reports = () =>
  (existsSync(at(REPORTS)) ? readdirSync(at(REPORTS)) : [])
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => ({
      stage: name.slice(0, -'.json'.length),
      ...JSON.parse(readFileSync(at(`${REPORTS}/${name}`), 'utf8')),
    }))

/** One entry per file and title: the same test on three stores is one proof, and none if it failed on one of them. */
const proofsIn = (tests) => {
  const proofs = new Map()
  for (const { file, title, state } of tests) {
    const name = title.split(' > ').at(-1) ?? title
    if (state === 'skipped' || !name.includes('[')) continue
    const key = `${file}\n${name}`
    const proof = proofs.get(key) ?? { file, name, times: 0, isWell: true }
    proofs.set(key, { ...proof, times: proof.times + 1, isWell: proof.isWell && state === 'passed' })
  }
  return [...proofs.values()].sort((a, b) => a.file.localeCompare(b.file) || a.name.localeCompare(b.name))
}

const idsIn = (name) => new Set([...name.matchAll(ID)].map(([, id]) => id))

const sentence = (name) => name.replace(/^(\[[A-Z]\d+\])+\s*/, '').replaceAll('|', '\\|')

const rowOf = ({ id, text }, proofs) => {
  const own = proofs.filter(({ name, isWell }) => isWell && idsIn(name).has(id))
  const cell = own.map(({ file, name }) => `${sentence(name)} ([${file.split('/').at(-1)}](../${file}))`).join('<br>')
  const used = new Set(own.flatMap(({ file }) => doorsOf(file)))
  const doors = doorNames.filter((door) => used.has(door)).join(', ')
  const line = `| ${id} | ${text} | ${doors || '–'} | ${cell || '**none yet**'} |`
  return { id, isProved: own.length > 0, isBehindDoors: own.length > 0 && doors === '', doors, line }
}

const tablesOf = (groups, proofs) =>
  groups.map(({ group, title, features }) => ({
    head: `## ${group}. ${title}`,
    rows: features.map((feature) => rowOf(feature, proofs)),
  }))

const pageOf = (tables, stages) => {
  const rows = tables.flatMap((table) => table.rows)
  const missing = rows.filter(({ isProved }) => !isProved).map(({ id }) => id)
  return [
    '# Features, and the tests that prove them',
    '',
    `Written by \`npm run features\` from the last reports of ${stages.join(', ')}; do not edit. A feature counts as there when a test that`,
    'carries its id has passed. Doors: where users meet what these tests use.',
    '',
    `${rows.length - missing.length} of ${rows.length} have a test. Without one: ${missing.join(', ') || 'none'}.`,
    ...tables.flatMap(({ head, rows: own }) => [
      '',
      head,
      '',
      '| id | feature | doors | proved by |',
      '|---|---|---|---|',
      ...own.map(({ line }) => line),
    ]),
    '',
  ].join('\n')
}

const all = reports()
if (all.length === 0) {
  console.error(`there is no report in ${REPORTS}: run the tests first, \`npm test\``)
  process.exit(2)
}
const groups = JSON.parse(readFileSync(at('docs/features.json'), 'utf8'))
const known = new Set(groups.flatMap(({ features }) => features.map(({ id }) => id)))
const proofs = proofsIn(all.flatMap(({ tests }) => tests))
const unknown = proofs.flatMap(({ file, name }) =>
  [...idsIn(name)].filter((id) => !known.has(id)).map((id) => `${id} in ${file}: ${name}`),
)
if (unknown.length > 0) {
  console.error(`no such feature: ${unknown.join('; ')}`)
  process.exit(1)
}
const tables = tablesOf(groups, proofs)
const rows = tables.flatMap(({ rows: own }) => own)
const hidden = rows.filter(({ isBehindDoors }) => isBehindDoors)
if (hidden.length > 0) {
  const ids = hidden.map(({ id }) => id).join(', ')
  console.error(
    `no test of these goes through ${doorNames.join(', ')}: ${ids}; prove them there, or take their ids off`,
  )
  process.exit(1)
}
const page = pageOf(
  tables,
  all.map(({ stage }) => stage),
)
if (process.argv.includes('--check')) {
  const isFresh = existsSync(at(PAGE)) && readFileSync(at(PAGE), 'utf8') === page
  if (!isFresh) console.error(`${PAGE} is stale: run \`npm run features\``)
  process.exitCode = isFresh ? 0 : 1
} else {
  writeFileSync(at(PAGE), page)
  for (const { id, doors } of rows) console.log(`${id.padEnd(4)} ${doors || 'no test'}`)
  console.log(page.split('\n').find((line) => line.includes(' have a test')))
}
