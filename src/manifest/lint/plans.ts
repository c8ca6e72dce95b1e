/**
 * Plans before they run: steps that wait for each other in a circle, for a step that is not there, or for nobody to do them.
 *
 * Owns which references make an edge: `requires`, templates that read another step, `trigger: after:<id>`.
 */
import type { Path, Tell } from '../yaml/finding.ts'
import { field, type HandlerEntry, type Manifest } from '../yaml/manifest.ts'
import { type JsonRecord, listed, recordsIn } from '../yaml/record.ts'

const READ = /\bsteps\.([A-Za-z_][\w-]*)|\bsteps\[\s*["']([^"']+)["']\s*\]/g
const AFTER = /^after:(.+)$/

interface Edges {
  readonly named: readonly string[]
  /** Read in templates: only those that are steps count. */
  readonly read: readonly string[]
}

const edgesOf = (step: JsonRecord): Edges => {
  const [, after] = AFTER.exec(String(step['trigger'] ?? '')) ?? []
  const texts = JSON.stringify([
    step['inputs'],
    step['workflow_config'],
    step['human_config'],
    step['when'],
    step['each'],
  ])
  return {
    named: [...listed(step['requires']).map(String), ...(after === undefined ? [] : [after.trim()])],
    read: [...texts.matchAll(READ)].map(([, dotted, quoted]) => dotted ?? quoted ?? ''),
  }
}

/** The circle that a step is in, if it is in one. */
const circleFrom = (start: string, next: ReadonlyMap<string, readonly string[]>): readonly string[] | null => {
  const stack: (readonly string[])[] = [[start]]
  const seen = new Set<string>()
  for (let path = stack.pop(); path !== undefined; path = stack.pop())
    for (const to of next.get(path.at(-1) as string) ?? []) {
      if (to === start) return [...path, start]
      if (seen.has(to)) continue
      seen.add(to)
      stack.push([...path, to])
    }
  return null
}

const isAssigned = (step: JsonRecord): boolean =>
  ['assigned_to', 'default_modality', 'type', 'agent_config', 'human_config', 'workflow_config'].some(
    (key) => step[key] !== undefined,
  )

const lintPlan = (plan: HandlerEntry, tell: Tell): void => {
  const steps = recordsIn(field(plan, 'steps'))
  const ids = new Set(steps.map(({ id }) => String(id)))
  const next = new Map<string, readonly string[]>()
  for (const step of steps) {
    const id = String(step['id'])
    const path: Path = ['plans', plan.name, 'steps', id]
    const { named, read } = edgesOf(step)
    for (const other of named.filter((one) => !ids.has(one)))
      tell({ level: 'error', code: 'PLAN_BAD_REF', message: `${id} requires ${other}, which is no step`, path })
    if (!isAssigned(step))
      tell({ level: 'warning', code: 'PLAN_UNASSIGNED', message: `nobody is said to do ${id}`, path })
    next.set(
      id,
      [...new Set([...named, ...read])].filter((one) => ids.has(one)),
    )
  }
  const circle = [...ids].map((id) => circleFrom(id, next)).find((found) => found !== null)
  if (circle != null) {
    const message = `${circle.join(' → ')} is a circle`
    tell({ level: 'error', code: 'PLAN_CYCLE', message, path: ['plans', plan.name, 'steps', circle[0] ?? ''] })
  }
}

export const lintPlans = (manifest: Manifest, tell: Tell): void => {
  for (const plan of manifest.plans ?? []) lintPlan(plan, tell)
}
