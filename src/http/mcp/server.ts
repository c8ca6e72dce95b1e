/**
 * An MCP server over the HTTP API: every tool call is one request, so every rule of the API holds.
 *
 * Owns the result of a call: the document, or the problem with its code and its hint, never an exception. Never decides a task.
 *
 * mcp-1  Every failure in a tool reaches the client as a problem of the one error table; the message of an unexpected error does not.
 */
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { problem } from '#http/server/problem.ts'
import { isEnded } from '#model/run/status.ts'
import type { ApiConnection } from './connection.ts'
import type { ApiDocument, Arguments } from './operation.ts'
import { type Tool, toolsOf } from './tools.ts'

/** Arguments are validated by the API itself, so that there is one set of error messages. */
const UNJUDGED = { getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }) as never }

const said = (document: unknown, isError: boolean) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(document) }],
  ...(typeof document === 'object' && document !== null && { structuredContent: document as Record<string, unknown> }),
  ...(isError && { isError: true }),
})

interface RunDocument {
  readonly id: string
  readonly status: Parameters<typeof isEnded>[0]
}

interface TaskRow {
  readonly id: string
  readonly title: string
}

/** Adds the people a run waits for: the task, and the page on which a person opens it. */
const withPeople = async (door: ApiConnection, run: RunDocument): Promise<unknown> => {
  if (isEnded(run.status)) return run
  const tasks = await door.ask({ method: 'GET', path: `/api/tasks?all=true&run=${encodeURIComponent(run.id)}` })
  if (!tasks.isOk) return run
  const { items } = tasks.document as { readonly items: readonly TaskRow[] }
  const waiting = items.map(({ id, title }) => ({
    task_id: id,
    title,
    url: door.pages === null ? null : new URL(`/inbox?task=${encodeURIComponent(id)}`, door.pages).href,
  }))
  return { ...run, waiting_on_people: waiting }
}

const perform = async (door: ApiConnection, tool: Tool, given: Arguments) => {
  try {
    const answer = await door.ask(tool.call(given))
    if (!answer.isOk) return said(answer.problem, true)
    return said(tool.isRun ? await withPeople(door, answer.document as RunDocument) : answer.document, false)
  } catch {
    return said(problem('SERVER_UNREACHABLE', 'the server of this system does not answer'), true)
  }
}

export interface McpOptions {
  readonly version: string
  readonly document: ApiDocument
}

export const createMcpServer = (door: ApiConnection, { version, document }: McpOptions): McpServer => {
  const server = new McpServer({ name: 'trihand', version }, { capabilities: { tools: {} } })
  for (const tool of toolsOf(document)) {
    const { name, description, inputSchema, isReading } = tool
    server.registerTool(
      name,
      {
        description,
        inputSchema: fromJsonSchema<Arguments>(inputSchema as never, UNJUDGED),
        annotations: { readOnlyHint: isReading, destructiveHint: false, openWorldHint: false },
      },
      (given) => perform(door, tool, given),
    )
  }
  return server
}
