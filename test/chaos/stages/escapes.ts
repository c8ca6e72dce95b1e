/**
 * Hostile code of an isolated module on every supported version of Node.js that the registry has: what it tries, and what blocks it.
 *
 * Owns how the versions are fetched. With WRITE_ESCAPES=1 the table of docs/modules.md is written from the results.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Tries, tryEscapes } from '#test/support/agents/escape-place.ts'
import { PROJECT, temporaryFolder } from '#test/support/places.ts'
import { Findings, type StageReport } from './report.ts'

const VERSIONS = ['20', '22', '24', 'latest']
const BEGIN = '<!-- escapes: written by npm run test:chaos -- --only escapes -->'
const END = '<!-- end of escapes -->'

interface Runtime {
  readonly version: string
  readonly node: string
}

/** From the registry, as a package per platform. */
const fetched = (wanted: string, folder: string): Runtime => {
  const name = `node-${process.platform}-${process.arch}@${wanted}`
  const run = (command: string, ...given: readonly string[]): string =>
    execFileSync(command, given, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 240_000,
    })
  const file = run('npm', 'pack', '--silent', name).trim().split('\n').at(-1) ?? ''
  run('mkdir', '-p', wanted)
  run('tar', 'xzf', file, '-C', wanted)
  const node = join(folder, wanted, 'package/bin/node')
  return { node, version: run(node, '--version').trim().slice(1) }
}

interface Outcome extends Tries {
  readonly version: string
}

const shutBy = ({ tried }: Tries, group: string): string => {
  const own = tried.filter((one) => one.group === group)
  const open = own.filter(({ isOpen }) => isOpen).length
  return `${own.length - open} of ${own.length}`
}

const tableOf = (outcomes: readonly Outcome[]): string => {
  const groups = [...new Set(outcomes[0]?.tried.map(({ group }) => group))]
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const permitted = ({ tried }: Tries): string => String(tried.filter(({ by }) => by === 'permissions').length)
  return [
    row(['shut on Node.js', ...outcomes.map(({ version }) => version)]),
    row(['---', ...outcomes.map(() => '--:')]),
    ...groups.map((group) => row([group, ...outcomes.map((one) => shutBy(one, group))])),
    row(['of these by permissions of the runtime', ...outcomes.map(permitted)]),
  ].join('\n')
}

const write = (outcomes: readonly Outcome[]): void => {
  const path = join(PROJECT, 'docs/modules.md')
  const text = readFileSync(path, 'utf8')
  const [before = '', rest = ''] = text.split(BEGIN)
  const after = rest.split(END)[1] ?? ''
  writeFileSync(path, `${before}${BEGIN}\n${tableOf(outcomes)}\n${END}${after}`)
}

export const runEscapes = async (): Promise<StageReport> => {
  const findings = new Findings()
  const folder = temporaryFolder('nodes')
  const outcomes: Outcome[] = []
  const notes: string[] = []
  for (const wanted of VERSIONS) {
    let runtime: Runtime
    try {
      runtime = fetched(wanted, folder.path)
    } catch (error) {
      notes.push(`Node.js ${wanted} was not tried: the registry does not give it (${String(error).split('\n')[0]})`)
      continue
    }
    const outcome = { version: runtime.version, ...(await tryEscapes(runtime.node)) }
    outcomes.push(outcome)
    const open = outcome.tried.filter(({ isOpen }) => isOpen)
    findings.checks += outcome.tried.length
    for (const { name, by } of open) findings.violation(`Node.js ${runtime.version}: ${name} is open (${by})`)
    for (const what of outcome.seen) findings.violation(`Node.js ${runtime.version}: ${what} was seen outside`)
    notes.push(`Node.js ${runtime.version}: ${outcome.tried.length - open.length} of ${outcome.tried.length} shut`)
  }
  folder.remove()
  if (process.env['WRITE_ESCAPES'] === '1') write(outcomes)
  return { ...findings.report('escapes', []), notes }
}
