/**
 * The MCP tools for agents outside: each is an operation of the HTTP API under a name of its own.
 *
 * Owns the list and how each tool is presented. There is no tool that decides a task, and none may be added: a waiting task is reported
 * with the page on which a person opens it.
 */
import type { Schema } from '#http/openapi/schema.ts'
import type { Json } from '#model/kernel/json.ts'
import { type ApiDocument, type Arguments, type CallableOperation, operationOf } from './operation.ts'

interface ToolRow {
  readonly name: string
  readonly operation: string
  /** Text in addition to the summary of the operation. */
  readonly says?: string
  /** Sent with every call, and not an argument of the tool. */
  readonly fixed?: Arguments
  /** Parameters of the operation that are not arguments of the tool. */
  readonly without?: readonly string[]
  /** True if it answers a run: the tasks that the run waits for are added. */
  readonly isRun?: true
}

/** Shorter than the 60 s after which a client ends a call. */
const LONGEST_WAIT = '50s'

const TOOLS: readonly ToolRow[] = [
  { name: 'send_event', operation: 'sendEvent', says: 'Returns the runs that it starts.' },
  { name: 'list_events', operation: 'listEvents' },
  { name: 'start_run', operation: 'startRun', says: 'Returns its id at once; wait_run waits until it has ended.' },
  { name: 'get_run', operation: 'getRun', without: ['wait'], isRun: true },
  {
    name: 'wait_run',
    operation: 'getRun',
    says: 'Waits up to 50 s until it has ended, then returns its current state. For a run that waits for a person, the result has the task and its page.',
    without: ['wait'],
    fixed: { wait: LONGEST_WAIT },
    isRun: true,
  },
  { name: 'list_runs', operation: 'listRuns' },
  {
    name: 'list_tasks',
    operation: 'listTasks',
    says: 'Tasks for people. Only a person can decide a task, on its page.',
    without: ['all'],
    fixed: { all: 'true' },
  },
  { name: 'get_task', operation: 'getTask', says: 'Only a person can decide it, on its page.' },
  {
    name: 'make_plan',
    operation: 'makePlan',
    says: 'Only a person can approve it, on its page; nothing runs before that.',
  },
  { name: 'get_plan', operation: 'getPlan' },
  { name: 'explain_run', operation: 'explainRun' },
  { name: 'list_sessions', operation: 'listSessions' },
  { name: 'get_session', operation: 'getSession' },
  { name: 'get_manifest', operation: 'getManifest' },
  { name: 'get_graph', operation: 'getGraph' },
  { name: 'validate_manifest', operation: 'validateManifest' },
]

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Schema
  readonly isReading: boolean
  readonly isRun: boolean
  call(given: Arguments): ReturnType<CallableOperation['call']>
}

const COMPONENT = '#/components/schemas/'

/** A tool's schema is self-contained: the schemas that it references are included. */
const standingAlone = (schema: Schema, { components }: ApiDocument): Schema => {
  const text = JSON.stringify(schema)
  if (!text.includes(COMPONENT)) return schema
  const whole = JSON.stringify({ ...schema, $defs: components.schemas })
  return JSON.parse(whole.replaceAll(COMPONENT, '#/$defs/')) as Schema
}

const inputsOf = ({ parameters, body }: CallableOperation, without: readonly string[]): Schema => {
  const shown = parameters.filter(({ name }) => !without.includes(name))
  const properties: Record<string, Json> = { ...body?.properties }
  for (const { name, schema, description } of shown)
    properties[name] = description === undefined ? schema : { ...schema, description }
  const inPath = shown.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  return {
    type: 'object',
    properties,
    required: [...inPath, ...(body?.required ?? [])],
    additionalProperties: false,
  }
}

/** The tools that this server can serve: a row whose operation it lacks is left out. */
export const toolsOf = (document: ApiDocument): readonly Tool[] =>
  TOOLS.flatMap(({ name, operation: id, says, fixed = {}, without = [], isRun = false }) => {
    const operation = operationOf(document, id)
    if (operation === null) return []
    return {
      name,
      description: [`${operation.summary}.`, says].filter((line) => line !== undefined).join(' '),
      inputSchema: standingAlone(inputsOf(operation, without), document),
      isReading: operation.isReading,
      isRun,
      call: (given: Arguments) => operation.call({ ...given, ...fixed }),
    }
  })
