/** The files that an agent declares as its output: those that exist when its work is done, and those that are missing. */
import type { AgentSpec } from '#model/agent/agent.ts'
import type { AgentState } from '#model/agent/state.ts'
import { repliesOf } from '#model/agent/turn.ts'
import type { Json } from '#model/kernel/json.ts'

export interface LeftFiles {
  readonly artifacts: Json
  readonly missing: readonly string[]
}

export const leftFiles = ({ artifacts }: AgentSpec, state: AgentState): LeftFiles => {
  const found = artifacts.flatMap(({ file }) => state.files.get(file) ?? [])
  const missing = artifacts.filter(({ file, required }) => required && !state.files.has(file))
  const simulated = repliesOf(state).some((reply) => reply.isSimulated)
  return {
    artifacts: found.map((file) => ({ ...file, media_type: mediaTypeOf(file.path), simulated })),
    missing: missing.map(({ file }) => file),
  }
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  md: 'text/markdown',
  txt: 'text/plain',
}

const mediaTypeOf = (path: string): string => {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return (Object.hasOwn(MEDIA_TYPES, extension) ? MEDIA_TYPES[extension] : undefined) ?? 'application/octet-stream'
}
