/**
 * `trihand runs cancel|retry|pause|resume --where status=waiting,handler=greet`: one command to many runs, and its progress.
 *
 * Owns the terms on the command line, the confirmation, and the progress display. The job runs in the server and continues without this
 * process: Ctrl+C does not stop it.
 */
import { withApi } from '#cli/connect/connect.ts'
import { hasEnded, pollUntil } from '#cli/events/follow.ts'
import { confirmed } from '#cli/terminal/confirm.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import type { Job } from '#http/openapi/api.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type CommandFlags, cancelRun, pauseRun, type ReasonFlags, resumeRun, retryRun } from './command.ts'

export interface ManyFlags extends Omit<ReasonFlags & CommandFlags, 'id'> {
  readonly id?: string
  readonly where?: string
  readonly yes?: boolean
}

const LINE_EVERY_MS = 10_000

const wrong = (detail: string): TrihandError => new TrihandError('CONFIG_INVALID', detail)

/** `status=waiting,handler=greet`. The server checks which terms exist. */
const termsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(',').map((term) => {
      const at = term.indexOf('=')
      if (at < 1) throw wrong(`--where is "${text}"; expected terms like status=waiting,handler=greet`)
      return [term.slice(0, at).trim(), term.slice(at + 1).trim()]
    }),
  )

const progressText = ({ action, done, failed, total, is_total_known }: Job): string =>
  `${action}: ${done} done, ${failed} failed, ${total} ${is_total_known ? 'in total' : 'found so far'}`

interface Meter {
  show(job: Job): void
  stop(): void
}

/** At a terminal one line that is overwritten; elsewhere a line every ten seconds. */
const startMeter = (output: Output): Meter => {
  let untold: Job | null = null
  const timer = setInterval(() => {
    if (untold !== null) output.talk(progressText(untold))
  }, LINE_EVERY_MS)
  return {
    show: (job) => {
      untold = output.rewrite(progressText(job)) ? null : job
    },
    stop: () => {
      clearInterval(timer)
      output.rewrite('')
    },
  }
}

const print = (output: Output, job: Job): void => {
  if (output.isJson) return output.document(job)
  output.table([[job.id, job.status, progressText(job)]])
  for (const { code, count, detail, runs } of job.failures)
    output.line(visible(`  ${count} × ${code}: ${detail} (${runs.join(', ')}${count > runs.length ? ', …' : ''})`))
}

const isGood = ({ status, failed }: Job): boolean => status === 'success' && failed === 0

const applyBulkCommands = (action: Job['action'], where: string): Verb<ManyFlags> => {
  const question = `${action} every run with ${where}?`
  return async (shell, flags) => {
    const { output } = shell
    const body = {
      ...{ action, where: termsOf(where) },
      ...(flags.reason === undefined ? {} : { reason: flags.reason }),
    }
    if (flags.yes !== true && !(await confirmed(output, { text: question, flag: '--yes' }))) {
      output.talk('nothing was changed')
      return EXIT.no
    }
    return withApi(shell, flags, { need: 'work' }, async (api) => {
      const { id } = await api.post<Job>('/api/runs/bulk', body)
      output.talk(`job ${id}`)
      const meter = startMeter(output)
      const ask = async (): Promise<Job> => {
        const job = await api.get<Job>(`/api/jobs/${id}`)
        meter.show(job)
        return job
      }
      const job = await pollUntil(ask, hasEnded, flags.wait ?? null).finally(() => meter.stop())
      if (job === 'interrupted') {
        output.talk(`the job continues; \`trihand runs cancel ${id}\` cancels it`)
        return EXIT.interrupted
      }
      print(output, job)
      if (!hasEnded(job)) return EXIT.waitedOut
      return isGood(job) ? EXIT.done : EXIT.no
    })
  }
}

/** Applies to one run by its id, or to many by a filter. */
const oneOrMany =
  (action: Job['action'], one: Verb<ReasonFlags & CommandFlags>): Verb<ManyFlags> =>
  async (shell, flags) => {
    const { id, where } = flags
    if ((id === undefined) === (where === undefined)) throw wrong('give the id of a run, or --where')
    return where === undefined ? one(shell, { ...flags, id: id ?? '' }) : applyBulkCommands(action, where)(shell, flags)
  }

export const cancelRuns = oneOrMany('cancel', cancelRun)
export const pauseRuns = oneOrMany('pause', pauseRun)
export const resumeRuns = oneOrMany('resume', resumeRun)
export const retryRuns = oneOrMany('retry', retryRun)
