/**
 * The schedules of a system, checked against the rest of it: what a schedule starts must exist.
 *
 * Owns those refusals. What one schedule means is schedule.ts.
 */
import { invalid } from '#manifest/define/invalid.ts'
import type { EventDefinition, FunctionDefinition } from '#manifest/define/system.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { defineSchedule, type ScheduleDefinition, type ScheduleOptions } from './schedule.ts'

interface DeclaredSchedules {
  readonly schedules?: readonly ScheduleOptions[]
  readonly tz?: string
  readonly open?: boolean
}

export const definedSchedules = (
  source: DeclaredSchedules,
  functions: ReadonlyMap<string, FunctionDefinition>,
  events: ReadonlyMap<string, EventDefinition>,
): Map<string, ScheduleDefinition> => {
  const schedules = new Map<string, ScheduleDefinition>()
  for (const options of source.schedules ?? []) {
    const path = `schedules.${options.name}`
    const definition = defineSchedule(options, path, { tz: source.tz ?? null, now: null })
    const { kind, name } = definition.target
    if (kind !== 'function' && kind !== 'emit') throw invalid(path, `a schedule cannot start ${kind} ${name} yet`)
    if (kind === 'function' && !functions.has(name)) throw invalid(`${path}.function`, `there is no function ${name}`)
    if (kind === 'emit' && !events.has(name) && source.open !== true)
      throw invalid(`${path}.emit`, `the event ${name} is not declared`)
    if (schedules.has(options.name))
      throw new TrihandError('MANIFEST_DUPLICATE_NAME', `two schedules are named ${options.name}`)
    schedules.set(options.name, definition)
  }
  return schedules
}
