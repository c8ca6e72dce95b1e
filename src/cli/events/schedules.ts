/** `trihand schedules list|show|pause|resume|run|backfill` and `trihand handlers pause|resume`. */
import { withApi } from '#cli/connect/connect.ts'
import { type Listing, printPage } from '#cli/terminal/listing.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { CommonFlags, Verb } from '#cli/terminal/shell.ts'
import type { BackfillCount, Schedule } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'

export interface NameFlags extends CommonFlags {
  readonly name: string
  readonly system?: string
}

export interface PauseFlags extends NameFlags {
  readonly reason?: string
}

export interface BackfillFlags extends NameFlags {
  readonly dryRun?: boolean
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
  empty: 'The system declares no schedules.',
  command: 'trihand schedules list',
}

const print = (output: Output, schedule: Schedule): void => {
  if (output.isJson) return output.document(schedule)
  output.table([LISTING.row(schedule)])
  output.line(`fired     ${schedule.fired}, running ${schedule.running}, waiting ${schedule.waiting}`)
  if (schedule.last !== null)
    output.line(visible(`last      ${schedule.last.slot}  ${schedule.last.status}  ${schedule.last.run_id}`))
  if (schedule.paused_by !== null) {
    const why = schedule.paused_reason === null ? '' : `: ${schedule.paused_reason}`
    output.line(visible(`paused by ${schedule.paused_by}${why}`))
  }
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

export const pauseSchedule = command<PauseFlags>('pause', ({ reason }) => (reason === undefined ? {} : { reason }))
export const resumeSchedule = command('resume', () => ({}))
export const runSchedule = command('run', () => ({}))
const fill = command<BackfillFlags>('backfill', ({ from, to }) => ({ from, to }))

const countSlots: Verb<BackfillFlags> = async (shell, flags) => {
  const path = `${pathOf(flags.name)}/backfill?dry_run=true`
  const { from, to } = flags
  const found = await withApi(shell, flags, { need: 'work' }, (api) => api.post<BackfillCount>(path, { from, to }))
  const { count, first, last } = found
  if (shell.output.isJson) shell.output.document(found)
  else
    shell.output.line(
      count === 0 ? 'no slots between these instants' : `${count} slots, ${first} to ${last}; nothing started`,
    )
  return EXIT.done
}

export const backfillSchedule: Verb<BackfillFlags> = (shell, flags) =>
  (flags.dryRun === true ? countSlots : fill)(shell, flags)

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
