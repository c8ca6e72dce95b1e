/** `/llms.txt`: the API for a language model, on one page. Generated from the table of routes. */
import type { Description } from '#http/routes/route.ts'

export const llmsText = (name: string, descriptions: readonly Description[]): string => {
  const lines = descriptions
    .filter(({ path }) => path.startsWith('/api/'))
    .map(({ id, method, path, summary }) => `- ${method.toUpperCase()} ${path} (${id}): ${summary}`)
  return [
    `# ${name}`,
    '',
    '> A system that runs on Trihand: durable execution by agents, humans and workflow functions that talk through events.',
    '',
    'Errors are problem documents (RFC 9457) with a `code` and a `hint`. Agents never decide tasks: a person does, in the web app.',
    '',
    '## Documents',
    '',
    '- [/openapi.json](/openapi.json): every operation, with schemas',
    '- [/asyncapi.json](/asyncapi.json): every event of this system, with schemas',
    '- [/mcp](/mcp): the same as tools',
    '',
    '## Operations',
    '',
    ...lines,
    '',
  ].join('\n')
}
