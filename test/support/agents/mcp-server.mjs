/**
 * A small MCP server on stdio, for tests: tools of every effect, one that fails, one that hangs, one that ends the process.
 *
 * `node mcp-server.mjs`. The effects of `change` last as long as the process.
 */
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const text = (value) => ({ content: [{ type: 'text', text: value }] })

const build = () => {
  const server = new McpServer({ name: 'crm', version: '1.0.0' }, { capabilities: { tools: {} } })
  const id = z.object({ id: z.string() })
  server.registerTool(
    'get',
    { description: 'Gets.', inputSchema: id, annotations: { readOnlyHint: true } },
    async (input) => text(`got ${input.id}`),
  )
  server.registerTool('put', { inputSchema: id, annotations: { idempotentHint: true } }, async () => text('put'))
  const send = server.registerTool('send', { description: 'Sends.', inputSchema: id }, async (input) =>
    text(`sent ${input.id}`),
  )
  server.registerTool('fails', { inputSchema: z.object({}) }, async () => ({
    isError: true,
    ...text('no such customer'),
  }))
  server.registerTool('shape', { inputSchema: z.object({}), outputSchema: z.object({ n: z.number() }) }, async () => ({
    ...text('{"n":1}'),
    structuredContent: { n: 1 },
  }))
  server.registerTool('env', { inputSchema: z.object({}) }, async () => text(JSON.stringify(process.env)))
  server.registerTool('hangs', { inputSchema: z.object({}) }, () => new Promise(() => {}))
  server.registerTool('dies', { inputSchema: z.object({}) }, () => process.exit(3))
  server.registerTool('change', { inputSchema: z.object({}) }, async () => {
    send.update({ paramsSchema: z.object({ id: z.string(), bcc: z.string() }) })
    return text('changed')
  })
  return server
}

serveStdio(build)
