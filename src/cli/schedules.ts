/** `trihand schedules list|show|pause|resume|run|backfill` and `trihand handlers pause|resume`. */
import type { Schedule } from '../http/api.ts'
import type { Page } from '../http/query.ts'
import { withApi } from './connect.ts'
import { type Listing, printPage } from './listing.ts'
import { EXIT, type Output, visible } from './output.ts'
import type { CommonFlags, Verb } from './shell.ts'

export interface NameFlags extends CommonFlags {
  readonly name: string
  readonly system?: string
}

export interface BackfillFlags extends NameFlags {
  readonly from: string
  readonly to: string
}

const LISTING: Listing<Schedule> = {
  row: (schedule) => [
    schedule.name,
    schedule.timing,
    schedule.tz,
    schedule.status,
    schedule.next_at ?? '-',
    `${schedule.target.kind} ${schedule.target.name}`,
  ],
  id: (schedule) => schedule.name,
  empty: 'The system declares no schedule.',
  command: 'trihand schedules list',
}

const print = (output: Output, schedule: Schedule): void => {
  if (output.isJson) return output.document(schedule)
  output.table([LISTING.row(schedule)])
  output.line(`fired     ${schedule.fired}, at work ${schedule.running}, waiting ${schedule.waiting}`)
  if (schedule.last !== null)
    output.line(visible(`last      ${schedule.last.slot}  ${schedule.last.status}  ${schedule.last.run_id}`))
  if (schedule.paused_by !== null) output.line(visible(`paused by ${schedule.paused_by}`))
}

const pathOf = (name: string): string => `/api/schedules/${encodeURIComponent(name)}`

export const listSchedules: Verb<CommonFlags> = async (shell, flags) => {
  const page = await withApi(shell, flags, { need: 'know' }, (api) => api.get<Page<Schedule>>('/api/schedules'))
  return printPage(shell.output, page, LISTING)
}

export const showSchedule: Verb<NameFlags> = async (shell, flags) => {
  print(shell.output, await withApi(shell, flags, { need: 'know' }, (api) => api.get<Schedule>(pathOf(flags.name))))
  return EXIT.done
}

const command =
  <Flags extends NameFlags>(verb: string, bodyOf: (flags: Flags) => object): Verb<Flags> =>
  async (shell, flags) => {
    const path = `${pathOf(flags.name)}/${verb}`
    print(shell.output, await withApi(shell, flags, { need: 'work' }, (api) => api.post<Schedule>(path, bodyOf(flags))))
    return EXIT.done
  }

export const pauseSchedule = command('pause', () => ({}))
export const resumeSchedule = command('resume', () => ({}))
export const runSchedule = command('run', () => ({}))
export const backfillSchedule = command<BackfillFlags>('backfill', ({ from, to }) => ({ from, to }))

const handlerCommand =
  (verb: 'pause' | 'resume'): Verb<NameFlags> =>
  async (shell, flags) => {
    const path = `/api/handlers/${encodeURIComponent(flags.name)}/${verb}`
    const answer = await withApi(shell, flags, { need: 'work' }, (api) => api.post<{ handler: string }>(path, {}))
    if (shell.output.isJson) shell.output.document(answer)
    else shell.output.line(visible(`${flags.name} is ${verb}d`))
    return EXIT.done
  }

export const pauseHandler = handlerCommand('pause')
export const resumeHandler = handlerCommand('resume')
