/**
 * The start of an agent's work: its instructions, its files, the tools it is shown. Recorded once; every wake reads the record.
 *
 * Owns what is put into the workspace. Values from outside become files or data blocks, never a part of the instructions.
 */
import type { AgentSpec, ContextFile, ContextRows } from '#model/agent/agent.ts'
import { DATA_RULE } from '#model/agent/messages.ts'
import { wireName } from '#model/agent/tool-name.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Tool } from '#ports/tool.ts'
import type { OpenWorkspace } from '#ports/workspaces.ts'
import type { Broker } from './broker.ts'
import type { AgentDeps, Hydrated, OfferedTool, RowQuery } from './deps.ts'

interface Beginning {
  readonly spec: AgentSpec
  readonly input: Json
  /** The name of the directory. */
  readonly key: string
  readonly documents: RowQuery['documents']
  readonly broker: Broker
  readonly signal: AbortSignal
}

const instructionsOf = async (spec: AgentSpec, deps: AgentDeps): Promise<string> => {
  if (spec.instructions !== null) return spec.instructions
  for (const path of spec.prompt) {
    const text = await deps.readFile(path)
    if (text !== null) return text
  }
  throw new TrihandError(
    'PROMPT_MISSING',
    `agent ${spec.name} has no instructions; looked for ${spec.prompt.join(', ')}`,
  )
}

const textBytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const filled = (template: string, input: Json, deps: AgentDeps): string => {
  const value = deps.fill(template, { payload: input })
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Copies a file, or all files of a folder. */
const putSource = async (source: string, dest: string, into: OpenWorkspace, deps: AgentDeps): Promise<boolean> => {
  const text = await deps.readFile(source)
  if (text !== null) {
    await into.write(dest, textBytes(text))
    return true
  }
  const names = await deps.filesIn(source)
  for (const name of names) {
    const inside = await deps.readFile(`${source}/${name}`)
    if (inside !== null) await into.write(`${dest.replace(/\/+$/, '')}/${name}`, textBytes(inside))
  }
  return names.length > 0
}

const putFile = async (file: ContextFile, input: Json, into: OpenWorkspace, deps: AgentDeps): Promise<void> => {
  const dest = filled(file.dest, input, deps)
  if (file.source === null) return into.write(dest, textBytes(file.text ?? ''))
  const source = filled(file.source, input, deps).replace(/\/+$/, '')
  const isThere = (await putSource(source, dest, into, deps)) || (await putSource(`config/${source}`, dest, into, deps))
  if (!isThere) throw new TrihandError('CONTEXT_MISSING', `there is no file ${source}`)
}

const checkRow = (rows: ContextRows, row: Json): void => {
  const missing = rows.mustHave.find((column) => !isJsonRecord(row) || row[column] == null)
  if (missing !== undefined) throw new TrihandError('CONTEXT_MISSING', `a row of ${rows.table} has no ${missing}`)
}

const rowText = (rows: ContextRows, roots: Json, deps: AgentDeps): Promise<string> | string =>
  rows.template === null ? JSON.stringify(roots, null, 2) : deps.context.render(rows.template, roots)

const putRows = async (
  rows: ContextRows,
  { input, documents }: Beginning,
  into: OpenWorkspace,
  deps: AgentDeps,
): Promise<void> => {
  const { table, where, orderBy, limit } = rows
  const found = await deps.context.rows({ table, where, orderBy, limit, input, documents })
  for (const row of found) checkRow(rows, row)
  if (found.length === 0 && rows.mustHave.length > 0)
    throw new TrihandError('CONTEXT_MISSING', `no row of ${table} is selected`)
  const as = filled(rows.as, input, deps)
  if (!as.endsWith('/')) {
    const [only] = found
    const roots = found.length === 1 && only !== undefined ? only : { rows: found }
    return into.write(as, textBytes(await rowText(rows, roots, deps)))
  }
  for (const [index, row] of found.entries()) {
    const id = isJsonRecord(row) ? row['id'] : undefined
    const name = typeof id === 'string' || typeof id === 'number' ? String(id) : String(index)
    await into.write(`${as}${name.replace(/[^A-Za-z0-9_.-]/g, '_')}.json`, textBytes(await rowText(rows, row, deps)))
  }
}

const offered = (broker: Broker, deps: AgentDeps): readonly OfferedTool[] =>
  broker.offered().map(({ name, description, input }) => ({
    name,
    description,
    input,
    wire: wireName(name, (text) => deps.ids.digest(text)),
  }))

const fillWorkspace = async (beginning: Beginning, deps: AgentDeps) => {
  const { spec, input, key } = beginning
  const workspace = await deps.workspaces.open(key, [])
  try {
    for (const file of spec.context.files) await putFile(file, input, workspace, deps)
    for (const entry of spec.context.rows) await putRows(entry, beginning, workspace, deps)
    return await workspace.commit()
  } finally {
    workspace.close()
  }
}

/** The recorded tools of an agent's servers, ready to be called. */
export const servedTools = ({ mcpServers }: AgentSpec, served: Hydrated['served'], deps: AgentDeps): readonly Tool[] =>
  mcpServers.flatMap((server, index) => deps.servers.tools(server, served[index] ?? []))

export const hydrate = async (beginning: Beginning, deps: AgentDeps): Promise<Hydrated> => {
  const { spec, broker, signal } = beginning
  const started = deps.clock.now()
  const served = await Promise.all(spec.mcpServers.map((server) => deps.servers.list(server, signal)))
  broker.serve(servedTools(spec, served, deps))
  const instructions = await instructionsOf(spec, deps)
  const { rows, files } = spec.context
  return {
    system: `${instructions.trim()}\n\n${DATA_RULE}`,
    files: rows.length + files.length === 0 ? [] : await fillWorkspace(beginning, deps),
    untrusted: [...rows, ...files].some(({ untrusted }) => untrusted),
    tools: offered(broker, deps),
    served,
    ms: deps.clock.now() - started,
  }
}
