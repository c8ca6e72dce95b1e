/**
 * `trihand plan "<text>"|<file> [--approve <hash>] [--run]`: drafts a plan and prints its errors by line; then approves it, then runs it.
 *
 * Owns flags and printing. Approving needs `--as` and the hash that was printed: a script cannot approve an unseen plan.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import type { Api } from '#cli/connect/api.ts'
import { withApi } from '#cli/connect/connect.ts'
import { headersOf, requireWho, type WhoFlags } from '#cli/connect/who.ts'
import { exitCodeFor, outcomeRow, settled } from '#cli/events/follow.ts'
import { parseJson } from '#cli/terminal/json-argument.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import type { Plan, PlanRun } from '#http/openapi/api.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { planLines } from '#model/plan/text.ts'
import { printPlan } from './steps.ts'

export interface PlanFlags extends WhoFlags {
  readonly plan: string
  readonly goal?: string
  readonly approve?: string
  readonly run?: boolean
  readonly input?: string
  readonly wait?: number
}

const textOf = (plan: string): string =>
  existsSync(plan) && statSync(plan).isFile() ? readFileSync(plan, 'utf8') : plan

/** A text with at least one line that is a step is a plan; any other text is a sentence. */
const bodyOf = ({ plan, goal }: PlanFlags): object => {
  const text = textOf(plan)
  const isPlan = planLines(text).some(({ step }) => step !== null)
  return { ...(isPlan ? { text } : { english: text }), ...(goal === undefined ? {} : { goal }) }
}

const print = (output: Output, plan: Plan): void => {
  output.line(visible(`${plan.id}  revision ${plan.revision}  ${plan.hash}  ${plan.status}`))
  printPlan(output, plan)
  for (const { code, line, message, hint } of plan.errors)
    output.line(visible(`${line === null ? '' : `line ${line}: `}${code}: ${message} · ${hint}`))
  if (plan.errors.length === 0 && plan.status === 'draft')
    output.talk(visible(`to approve exactly this: --approve ${plan.hash} --as <user>, with --run to run it`))
}

const approved = async (api: Api, plan: Plan, flags: PlanFlags): Promise<Plan> =>
  flags.approve === undefined
    ? plan
    : api.post<Plan>(`/api/plans/${plan.id}/approve`, { hash: flags.approve }, requireWho(flags))

const runOf = async (api: Api, output: Output, plan: Plan, flags: PlanFlags): Promise<number> => {
  const input = flags.input === undefined ? {} : parseJson(flags.input, 'the input')
  const started = await api.post<PlanRun>(`/api/plans/${plan.id}/runs`, { input }, headersOf(flags))
  const runs = await settled(api, [started.id], flags.wait ?? null)
  if (output.isJson) output.document({ ...plan, run: started.id, status: runs[0]?.status })
  else output.table(runs.map(outcomeRow))
  return flags.wait === undefined ? EXIT.done : exitCodeFor(runs)
}

export const plan: Verb<PlanFlags> = async (shell, flags) => {
  const { output } = shell
  const body = bodyOf(flags)
  if (flags.approve !== undefined) requireWho(flags)
  if (flags.run === true && flags.approve === undefined)
    throw new TrihandError('PLAN_NOT_APPROVED', 'read the plan first: --run needs --approve <hash>')
  return withApi(shell, flags, { need: 'work', mayCreate: true }, async (api) => {
    const draft = await api.post<Plan>('/api/plans', body, headersOf(flags))
    const shown = draft.errors.length > 0 ? draft : await approved(api, draft, flags)
    if (!output.isJson) print(output, shown)
    else if (flags.run !== true || shown.errors.length > 0) output.document(shown)
    if (shown.errors.length > 0) return EXIT.invalid
    return flags.run === true ? runOf(api, output, shown, flags) : EXIT.done
  })
}
