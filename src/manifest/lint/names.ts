/** Handlers, events and tools that are referred to but do not exist. */
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import { field, type HandlerEntry, handlersOf, type Manifest } from '#manifest/yaml/manifest.ts'
import { isRecord, listed, recordsIn } from '#manifest/yaml/record.ts'
import { nearest } from '#model/kernel/nearest.ts'

interface Named {
  readonly name: string
  readonly path: Path
}

const PEOPLE = /^(human|(user|group):.+)$/

/** The handlers to which the escalation rules of an agent or of a step hand over. */
const takers = (rules: unknown, base: Path): readonly Named[] =>
  recordsIn(rules as never).flatMap(({ escalate_to: to }, i) =>
    typeof to === 'string' && !PEOPLE.test(to)
      ? [{ name: to, path: [...base, 'escalation_rules', i, 'escalate_to'] }]
      : [],
  )

const texts = (value: unknown, path: Path): readonly Named[] =>
  listed(value as never).flatMap((name) => (typeof name === 'string' ? [{ name, path }] : []))

const calledBy = (section: string, handler: HandlerEntry): readonly Named[] => {
  const base = [section, handler.name]
  const routing = field(handler, 'routing')
  const config = field(handler, 'config')
  const routes = isRecord(routing)
    ? [
        ...Object.entries(isRecord(routing['routes']) ? routing['routes'] : {}),
        ['default_route', routing['default_route']],
      ]
    : []
  return [
    ...routes.flatMap(([key, route]) =>
      isRecord(route as never)
        ? texts((route as { readonly then?: unknown }).then, [
            ...base,
            'routing',
            ...(key === 'default_route' ? [key] : ['routes', String(key)]),
            'then',
          ])
        : [],
    ),
    ...(section === 'agents' && isRecord(config) ? texts(config['handoffs'], [...base, 'config', 'handoffs']) : []),
    ...takers(field(handler, 'escalation_rules'), base),
    ...recordsIn(field(handler, 'steps')).flatMap((step) =>
      takers(step['escalation_rules'], [...base, 'steps', String(step['id'])]),
    ),
  ]
}

const lintHandlers = (manifest: Manifest, tell: AddFinding): void => {
  const known = handlersOf(manifest).map(({ handler }) => handler.name)
  for (const { section, handler } of handlersOf(manifest))
    for (const { name, path } of calledBy(section, handler)) {
      if (known.includes(name)) continue
      const near = nearest(name, known)
      const message = `no handler is named ${name}${near === null ? `; handlers: ${known.join(', ')}` : `; did you mean ${near}?`}`
      tell({ level: 'warning', code: 'LINT_NAME_UNKNOWN', message, path })
    }
}

/** Tools that every agent may be allowed; other tools are registered in code, or come from a server. */
const BUILT_IN = ['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash', 'WebFetch', 'WebSearch', 'Task', 'AskUser']

const lintTools = (manifest: Manifest, tell: AddFinding): void => {
  for (const handler of manifest.agents ?? []) {
    const config = field(handler, 'config')
    if (!isRecord(config)) continue
    const servers = recordsIn(config['mcp_servers']).map(({ name }) => String(name))
    for (const tool of listed(config['allowed_tools']).map(String)) {
      const [, server] = /^mcp__(.+?)__/.exec(tool) ?? []
      const isKnown = server === undefined ? BUILT_IN.includes(tool.replace(/\(.*/, '')) : servers.includes(server)
      if (isKnown || tool.includes('*') || servers.some((name) => tool.startsWith(`${name}.`))) continue
      const near = nearest(server ?? tool, server === undefined ? BUILT_IN : servers)
      const what = server === undefined ? `${tool} is not a tool of Trihand` : `${handler.name} has no server ${server}`
      const message = `${what}${near === null ? '; it works only if code registers it' : `; did you mean ${near}?`}`
      const path = ['agents', handler.name, 'config', 'allowed_tools']
      tell({ level: 'warning', code: 'LINT_TOOL_UNKNOWN', message, path })
    }
  }
}

export const lintNames = (manifest: Manifest, tell: AddFinding): void => {
  lintHandlers(manifest, tell)
  lintTools(manifest, tell)
}
