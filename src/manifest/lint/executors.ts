/** Risks in the handlers themselves: rules over fields that no answer has, tools beyond the parent's, timeouts that approve. */
import type { AddFinding } from '#manifest/yaml/finding.ts'
import { field, type HandlerEntry, handlersOf, type Manifest, sentBy, startingTypes } from '#manifest/yaml/manifest.ts'
import { isRecord, listed, recordsIn } from '#manifest/yaml/record.ts'
import { mayUse } from '#model/access/module.ts'
import { moduleOf } from './modules.ts'
import { outputSchemaOf } from './schemas.ts'

const NO_ALLOWANCE = {
  operations: [],
  hosts: [],
  tables: { read: [], write: [] },
  events: [],
  secrets: [],
  modules: [],
}

/** The fields that the engine adds about an agent, besides its answer. */
const AGENT_FIELDS: ReadonlySet<string> = new Set(['output', 'usage', 'status', 'attempts', 'model_used'])

const fieldsRead = (condition: string): readonly string[] => {
  const found = [...condition.matchAll(/\b(?:agent\.output|output)\.([A-Za-z_]\w*)|\bagent\.([A-Za-z_]\w*)/g)]
  return found.flatMap(([, ofOutput, ofAgent]) => {
    if (ofOutput !== undefined) return ofOutput
    return ofAgent !== undefined && !AGENT_FIELDS.has(ofAgent) ? ofAgent : []
  })
}

const lintEscalation = (handler: HandlerEntry, tell: AddFinding): void => {
  const schema = outputSchemaOf(handler)
  const properties = isRecord(schema) ? schema['properties'] : undefined
  if (!isRecord(properties)) return
  for (const [i, rule] of recordsIn(field(handler, 'escalation_rules')).entries())
    for (const name of fieldsRead(String(rule['condition'])).filter((one) => !Object.hasOwn(properties, one))) {
      const message = `the rule reads ${name}, which the output schema does not have: every answer would escalate`
      const path = ['agents', handler.name, 'escalation_rules', i, 'condition']
      tell({ level: 'warning', code: 'LINT_ESCALATION_FIELD', message, path })
    }
}

const lintTools = (handler: HandlerEntry, tell: AddFinding): void => {
  const config = field(handler, 'config')
  if (!isRecord(config)) return
  const allowed = listed(config['allowed_tools']).map(String)
  for (const subagent of recordsIn(config['subagents']))
    for (const tool of listed(subagent['tools']).map(String))
      if (!allowed.includes(tool)) {
        const message = `${String(subagent['name'])} wants ${tool}, which ${handler.name} may not use: the tool is removed`
        const path = ['agents', handler.name, 'config', 'subagents', String(subagent['name']), 'tools']
        tell({ level: 'warning', code: 'LINT_TOOL_WIDER', message, path })
      }
}

/** A module that lists tools allows its agents no others. */
const lintModuleTools = (manifest: Manifest, handler: HandlerEntry, tell: AddFinding): void => {
  const config = field(handler, 'config')
  const module = moduleOf(manifest, handler)
  if (!isRecord(config) || module === undefined || field(module, 'tools') === undefined) return
  const given = { name: module.name, allow: NO_ALLOWANCE, tools: listed(field(module, 'tools')).map(String) }
  for (const tool of listed(config['allowed_tools']).map(String))
    if (!mayUse(given, tool)) {
      const message = `${handler.name} wants ${tool}, which module ${module.name} does not list: the tool is removed`
      tell({
        level: 'warning',
        code: 'LINT_TOOL_WIDER',
        message,
        path: ['agents', handler.name, 'config', 'allowed_tools'],
      })
    }
}

const lintAutoApprove = (manifest: Manifest, tell: AddFinding): void => {
  for (const handler of manifest.humans ?? []) {
    if (field(handler, 'auto_action_on_timeout') !== 'approve') continue
    const sent = new Set(sentBy('humans', handler).map(({ event }) => event))
    const next = handlersOf(manifest).find(
      ({ handler: other }) =>
        other['effect'] === 'once' && startingTypes(other, manifest).some((type) => sent.has(type)),
    )
    if (next === undefined) continue
    const message = `when the deadline passes, the task is approved, and ${next.handler.name} then does something irreversible`
    const path = ['humans', handler.name, 'auto_action_on_timeout']
    tell({ level: 'warning', code: 'LINT_AUTO_APPROVE', message, path })
  }
}

export const lintExecutors = (manifest: Manifest, tell: AddFinding): void => {
  for (const handler of manifest.agents ?? []) {
    lintEscalation(handler, tell)
    lintTools(handler, tell)
    lintModuleTools(manifest, handler, tell)
  }
  lintAutoApprove(manifest, tell)
}
