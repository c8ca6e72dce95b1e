/**
 * Checks tools as an author writes them.
 *
 * Owns every refusal at definition time: a tool must declare its effect, and no two tools may have the same name on the wire.
 */
import { compileRule } from '#manifest/expressions/rules.ts'
import { jsonSchemaOf } from '#manifest/schema/json-schema.ts'
import { wireName } from '#model/agent/tool-name.ts'
import type { ToolSource } from '#model/agent/tool-source.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { invalid } from './invalid.ts'

export interface ToolDefinition extends ToolSource {
  readonly description: string
  readonly input: Json
}

const NAME = /^[A-Za-z][A-Za-z0-9_./-]{0,127}$/
const EFFECTS: readonly unknown[] = ['none', 'idempotent', 'once']
const ANY_OBJECT: Json = { type: 'object' }

const defineTool = (source: ToolSource): ToolDefinition => {
  const { name, effect, approval, output } = source
  const path = `tools.${name}`
  if (!NAME.test(name))
    throw invalid(path, 'a name must begin with a letter and have at most 128 of A-Z a-z 0-9 _ . / -')
  if (!EFFECTS.includes(effect))
    throw new TrihandError('TOOL_EFFECT_MISSING', `${path}: effect must be one of ${EFFECTS.join(', ')}`, {
      place: { path },
    })
  if (typeof source.run !== 'function') throw invalid(path, 'the code of a tool must be a function named run')
  if (typeof approval === 'string') compileRule(approval, ['input'])
  return {
    ...source,
    description: source.description ?? '',
    input: source.input === undefined ? ANY_OBJECT : jsonSchemaOf(source.input, `${path}.input`),
    ...(output === undefined ? {} : { output: jsonSchemaOf(output, `${path}.output`) }),
  }
}

export const defineTools = (
  sources: readonly ToolSource[],
  digest: (text: string) => string,
): ReadonlyMap<string, ToolDefinition> => {
  const tools = new Map<string, ToolDefinition>()
  const onWire = new Map<string, string>()
  for (const source of sources) {
    const tool = defineTool(source)
    const other = onWire.get(wireName(tool.name, digest))
    if (other !== undefined)
      throw new TrihandError('TOOL_NAME_CLASH', `models cannot distinguish the names ${tool.name} and ${other}`)
    onWire.set(wireName(tool.name, digest), tool.name)
    tools.set(tool.name, tool)
  }
  return tools
}
