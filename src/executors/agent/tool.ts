/**
 * `tool(…)`: declares a tool, with the types of its input and its surroundings.
 *
 * Owns the form only. Mistakes in a tool are reported when its system is defined (manifest/define/tools.ts).
 */
import type { ToolOptions, ToolSource } from '#model/agent/tool-source.ts'
import type { ToolContext } from '#ports/tool.ts'

/**
 * Declares a tool that agents may be allowed to use.
 *
 * ```ts
 * const findCustomer = tool('FindCustomer', { input: Query, effect: 'none' }, ({ mail }) => customers.byMail(mail))
 * defineSystem({ tools: [findCustomer], agents: [agent('triager', { allowedTools: ['FindCustomer'] })], … })
 * ```
 */
export const tool = <Input = unknown>(
  name: string,
  options: ToolOptions,
  run: (input: Input, context: ToolContext) => unknown,
): ToolSource => ({ ...options, name, run: run as ToolSource['run'] })
