/**
 * Checks an agent's call before it is performed: nothing runs that is not named, allowed, well formed and, where needed, approved.
 *
 * Owns the order of the checks, the verdict on a call, and how a tool's answer is shortened. Never retries and never records.
 *
 * broker-1  A tool runs only if its exact name is on the allowlist of its scope and the tool exists.
 * broker-2  After untrusted input, irreversible and outgoing calls need a person's approval, in every permission mode.
 * broker-3  A refusal is a result for the model, never an exception.
 */
import type { AgentSpec } from '#model/agent/agent.ts'
import type { AgentCall, AgentState } from '#model/agent/state.ts'
import type { Judgement } from '#model/agent/turn.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Tool } from '#ports/tool.ts'
import { ASK_HUMAN, type ControlTool, controlTools } from './control-tools.ts'
import type { AgentDeps } from './deps.ts'

export interface Refused {
  readonly code: ErrorCode
  readonly message: string
}

type Found =
  | { readonly kind: 'tool'; readonly tool: Tool }
  | { readonly kind: 'control'; readonly tool: ControlTool }
  | { readonly kind: 'refused'; readonly refused: Refused }

type BrokerDeps = Pick<AgentDeps, 'tools' | 'check' | 'ask'>

const EDITS: ReadonlySet<string> = new Set(['Write', 'Edit'])
const MAX_ISSUES = 5

export class Broker {
  private readonly spec: AgentSpec
  private readonly allowed: ReadonlySet<string>
  private readonly deps: BrokerDeps
  private readonly controls: ReadonlyMap<string, ControlTool>
  private served: ReadonlyMap<string, Tool> = new Map()

  constructor(spec: AgentSpec, allowed: readonly string[], deps: BrokerDeps) {
    this.spec = spec
    this.allowed = new Set(allowed)
    this.deps = deps
    this.controls = controlTools(spec)
  }

  /** Adds the tools of servers, known once they are recorded. They never replace a tool that exists. */
  serve(tools: readonly Tool[]): void {
    this.served = new Map(tools.map((tool) => [tool.name, tool]))
  }

  /** The tools that the model is shown: allowed, and existing. Sorted by name, so that provider caches hit. */
  offered(): readonly (Tool | ControlTool)[] {
    const found = [...this.allowed].flatMap((name) => this.toolNamed(name) ?? this.controls.get(name) ?? [])
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** broker-1: maps and sets only, so that `constructor` or `__proto__` are names like any other. */
  find(name: string): Found {
    const control = this.controls.get(name)
    const tool = this.toolNamed(name)
    if (this.allowed.has(name)) {
      if (control !== undefined) return { kind: 'control', tool: control }
      if (tool !== undefined) return { kind: 'tool', tool }
    }
    return { kind: 'refused', refused: { code: 'TOOL_NOT_ALLOWED', message: `you have no tool ${name}` } }
  }

  /** Null: the input fits. */
  refusesInput(schema: Json, input: Json): Refused | null {
    const issues = this.deps.check(schema, input)
    if (issues.length === 0) return null
    return { code: 'TOOL_INPUT_INVALID', message: issues.slice(0, MAX_ISSUES).join('; ') }
  }

  /** Why a call is not performed; null: its name and its input are accepted. */
  refuses(name: string, input: Json): Refused | null {
    const found = this.find(name)
    return found.kind === 'refused' ? found.refused : this.refusesInput(found.tool.input, input)
  }

  judge(call: AgentCall, state: Pick<AgentState, 'isTainted'>): Judgement {
    if (this.refuses(call.tool, call.input) !== null) return { kind: 'refuse' }
    const found = this.find(call.tool)
    if (found.kind !== 'tool')
      return call.tool === ASK_HUMAN ? { kind: 'question' } : { kind: 'run', effect: 'none', needsApproval: false }
    const { tool } = found
    return { kind: 'run', effect: tool.effect, needsApproval: this.needsApproval(tool, call.input, state.isTainted) }
  }

  private toolNamed(name: string): Tool | undefined {
    return this.deps.tools().get(name) ?? this.served.get(name)
  }

  private needsApproval(tool: Tool, input: Json, isTainted: boolean): boolean {
    const { taint, permissionMode } = this.spec
    const reachesOut = tool.effect === 'once' || (tool.egress === true && tool.effect !== 'none')
    // broker-2
    if (isTainted && taint === 'ask' && reachesOut) return true
    if (permissionMode === 'bypassPermissions') return false
    if (permissionMode === 'acceptEdits' && EDITS.has(tool.name)) return false
    return this.wantsApproval(tool, input)
  }

  /** If a rule cannot be evaluated, a person is asked. */
  private wantsApproval({ approval = false }: Tool, input: Json): boolean {
    if (typeof approval === 'boolean') return approval
    const answer = this.deps.ask(approval, { input })
    return answer.kind === 'error' || answer.value !== false
  }
}
