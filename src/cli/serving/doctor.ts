/**
 * `trihand doctor`: checks what this machine and this folder lack, each with a hint. Exit 1 if something would not work.
 *
 * Owns the list of checks. Changes nothing: a ledger that does not exist is not created.
 */
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { liveServer, ownerOf } from '#cli/connect/connect.ts'
import { codeFolder, defaultLedger } from '#cli/connect/settings.ts'
import { findSystem, loadSystem } from '#cli/manifest/load-system.ts'
import { EXIT, placeText } from '#cli/terminal/output.ts'
import type { Shell, Verb } from '#cli/terminal/shell.ts'
import { createTrihand } from '#compose/assemble.ts'
import { ledgerChoice } from '#compose/config.ts'
import { describeModels, simulatedIn } from '#compose/models.ts'
import { problemOf } from '#http/server/problem.ts'
import { defineModels } from '#manifest/define/models.ts'
import type { ModelBook } from '#model/agent/agent.ts'

type State = 'ok' | 'warn' | 'fail'

interface Finding {
  readonly name: string
  readonly state: State
  readonly says: string
  readonly hint?: string
}

type Question = (shell: Shell, path: string | undefined) => Promise<Finding>

const USUAL_PORT = 4400
const KEEP = 'set DATABASE_URL to a file or to Postgres'

const failed = (name: string, error: unknown): Finding => {
  const problem = problemOf(error)
  const { code, detail, hint } = problem
  return { name, state: 'fail', says: `${code} ${placeText(problem)}${detail}`, hint }
}

const node: Question = async () => ({ name: 'node', state: 'ok', says: process.version })

const whereSystem = (path: string | undefined): string | null => {
  try {
    return findSystem(path)
  } catch {
    return null
  }
}

const aboutSystem: Question = async ({ settings }, path) => {
  const name = 'system'
  const file = whereSystem(path)
  if (file === null)
    return { name, state: 'warn', says: 'there is none in this folder', hint: 'create one with npx trihand init' }
  try {
    const { source } = await loadSystem(file, codeFolder(settings))
    const count = (source.findings ?? []).filter(({ level }) => level === 'warning').length
    if (count === 0) return { name, state: 'ok', says: `${source.name} loads` }
    const hint = 'list them with npx trihand manifest validate'
    return { name, state: 'warn', says: `${source.name} loads, with ${count} warning${count > 1 ? 's' : ''}`, hint }
  } catch (error) {
    return failed(name, error)
  }
}

/** A running server has its ledger open, and reports its health. */
const askServer = async (url: string): Promise<Finding> => {
  const response = await fetch(`${url}/health`)
  const { durable, status } = (await response.json()) as { readonly durable: boolean; readonly status: string }
  const says = `open in the server at ${url}, which is ${status}`
  return durable
    ? { name: 'ledger', state: response.ok ? 'ok' : 'fail', says }
    : { name: 'ledger', state: 'warn', says: `${says}; data is lost when it stops`, hint: KEEP }
}

const ledger: Question = async ({ settings }) => {
  const name = 'ledger'
  try {
    const database = defaultLedger(settings)
    const server = (await liveServer(settings.dataFolder)) ?? (await ownerOf({ settings }, database))
    if (server !== null) return await askServer(server.url)
    const choice = ledgerChoice(database)
    if (choice.kind === 'memory')
      return { name, state: 'warn', says: 'memory: data is lost when the process stops', hint: KEEP }
    if (choice.kind === 'sqlite' && !existsSync(choice.file))
      return { name, state: 'ok', says: `${choice.file}, created at the first start` }
    const trihand = await createTrihand({ system: { name: 'doctor' }, database, work: false, sources: false })
    const { description } = trihand.ledger
    await trihand.close()
    return { name, state: 'ok', says: `${description} opens and is durable` }
  } catch (error) {
    return failed(name, error)
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })

const port: Question = async ({ settings }) => {
  const name = 'port'
  const wanted = settings.port ?? USUAL_PORT
  if ((await liveServer(settings.dataFolder)) !== null)
    return { name, state: 'ok', says: 'used by the server of this folder' }
  if (await isFree(wanted)) return { name, state: 'ok', says: `${wanted} is free` }
  if (settings.port === null) return { name, state: 'ok', says: `${wanted} is taken; the next free one is used` }
  return {
    name,
    state: 'fail',
    says: `${wanted} is taken`,
    hint: 'set PORT to another port, or to 0 for any free port',
  }
}

/** The models of the system; if the system does not load, the default ones. */
const bookOf = async ({ settings }: Shell, path: string | undefined): Promise<ModelBook> => {
  const file = whereSystem(path)
  if (file === null) return defineModels()
  const loaded = await loadSystem(file, codeFolder(settings)).catch(() => null)
  return defineModels(loaded?.source.models)
}

const models: Question = async (shell, path) => {
  const name = 'models'
  const hint = 'set ANTHROPIC_API_KEY or OPENAI_API_KEY, or give a model a base_url, to use a live model'
  try {
    const book = await bookOf(shell, path)
    const simulated = simulatedIn(book, process.env)
    if (simulated !== null)
      return { name, state: 'warn', says: `simulated, agents answer from scripts: ${simulated}`, hint }
    return { name, state: 'ok', says: `live: ${describeModels(book, process.env).join(', ')}` }
  } catch (error) {
    return failed(name, error)
  }
}

const QUESTIONS: readonly Question[] = [node, aboutSystem, ledger, port, models]

export interface DoctorFlags {
  readonly path?: string
}

export const doctor: Verb<DoctorFlags> = async (shell, { path }) => {
  const { output } = shell
  const findings: Finding[] = []
  for (const question of QUESTIONS) findings.push(await question(shell, path))
  if (output.isJson) output.document({ findings })
  else {
    output.table(findings.map(({ name, state, says }) => [state, name, says]))
    for (const { name, hint } of findings) if (hint !== undefined) output.talk(`${name}: ${hint}`)
  }
  return findings.some(({ state }) => state === 'fail') ? EXIT.no : EXIT.done
}
