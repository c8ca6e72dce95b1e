/**
 * Formats a report for people, for programs and for the shell: a table, a JSON document, an exit code.
 *
 * Owns the wording. Never writes to a stream and never colours: the command does (cli/terminal/output.ts).
 */
import { INVARIANTS, invariants, type Report, type Violation } from './report.ts'

export const EXIT_CLEAN = 0
export const EXIT_VIOLATIONS = 1
export const EXIT_UNREADABLE = 2

const DOCUMENT_VERSION = 1

const countViolations = (report: Report): number => Object.values(report.found).reduce((sum, count) => sum + count, 0)

/** `outcome`: a report, or the error that prevented one. */
export const exitCodeOf = (outcome: Report | Error): number => {
  if (outcome instanceof Error) return EXIT_UNREADABLE
  return countViolations(outcome) === 0 ? EXIT_CLEAN : EXIT_VIOLATIONS
}

const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

const placeOf = ({ stream, seq }: Violation): string =>
  [stream, seq === null ? null : `fact ${seq}`].filter((part) => part !== null).join(', ')

const lineOf = (violation: Violation): string => {
  const place = placeOf(violation)
  return `${violation.id.padEnd(4)} ${place === '' ? '' : `${place}: `}${violation.sentence}`
}

const table = (report: Report): readonly string[] => {
  const widest = Math.max(...Object.values(INVARIANTS).map((title) => title.length))
  return invariants().map((id) => {
    const found = report.found[id]
    const verdict = found > 0 ? plural(found, 'violation') : report.checked[id] > 0 ? 'holds' : 'nothing to check'
    return `${id.padEnd(4)} ${INVARIANTS[id].padEnd(widest)}  ${String(report.checked[id]).padStart(10)}  ${verdict}`
  })
}

export const printReport = (report: Report): string => {
  const total = countViolations(report)
  const unlisted = total - report.violations.length
  const { runs, sessions, clerks, tasks, facts, events } = report
  return [
    [
      plural(runs, 'run'),
      plural(sessions, 'session'),
      plural(clerks, 'coordinator'),
      plural(tasks, 'task'),
      plural(facts, 'fact'),
      plural(events, 'event'),
    ].join(', '),
    '',
    ...table(report),
    '',
    ...report.violations.map(lineOf),
    ...(unlisted > 0 ? [`… and ${unlisted.toLocaleString('en-US')} more`] : []),
    ...(report.anchored === null ? [] : [`The anchor has ${plural(report.anchored, 'stream')}.`]),
    total === 0 ? 'No violations.' : `${plural(total, 'violation')}.`,
  ].join('\n')
}

/** The output of `--json`: one document, also if the ledger cannot be read. */
export const printJson = (outcome: Report | Error): string => {
  if (outcome instanceof Error)
    return JSON.stringify({ schema: DOCUMENT_VERSION, status: 'unreadable', error: outcome.message }, null, 2)
  const status = countViolations(outcome) === 0 ? 'clean' : 'violations'
  return JSON.stringify({ schema: DOCUMENT_VERSION, status, ...outcome }, null, 2)
}
