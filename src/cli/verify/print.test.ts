/** The formats of a report: for people, for programs and as an exit code. */
import { expect, test } from 'vitest'
import { UnreadableLedger } from '#cli/verify/source/source.ts'
import { EXIT_CLEAN, EXIT_UNREADABLE, EXIT_VIOLATIONS, exitCodeOf, printJson, printReport } from './print.ts'
import { Findings, type Report } from './report.ts'

const reportOf = (...holds: readonly boolean[]): Report => {
  const findings = new Findings()
  findings.count('runs')
  holds.forEach((one, seq) => {
    findings.expect('V7', one, { stream: 'run_1', seq }, () => `fact ${seq} is one too many`)
  })
  return findings.report()
}

test('the exit code differs for clean, violated and unreadable ledgers', () => {
  expect(exitCodeOf(reportOf(true))).toBe(EXIT_CLEAN)
  expect(exitCodeOf(reportOf(true, false))).toBe(EXIT_VIOLATIONS)
  expect(exitCodeOf(new UnreadableLedger('gone'))).toBe(EXIT_UNREADABLE)
})

test('report-2: the table shows which invariants hold, which do not and which were not checked', () => {
  const text = printReport(reportOf(true, false))
  expect(text).toMatch(/^1 run, 0 sessions, 0 coordinators, 0 tasks, 0 facts, 0 events$/m)
  expect(text).toMatch(/^V7 +a step has one accepted result +2 {2}1 violation$/m)
  expect(text).toMatch(/^V8 .* 0 {2}nothing to check$/m)
  expect(text).toMatch(/^V7 +run_1, fact 1: fact 1 is one too many$/m)
  expect(text).toMatch(/^1 violation\.$/m)
})

test('a clean report says that there are no violations', () => {
  expect(printReport(reportOf(true))).toMatch(/^V7 .* 1 {2}holds$[\s\S]*^No violations\.$/m)
})

test('violations that are not listed are counted as more', () => {
  expect(printReport(reportOf(...Array.from({ length: 1_234 }, () => false)))).toContain(
    '… and 234 more\n1,234 violations.',
  )
})

test('the JSON document has a status, also if the ledger cannot be read', () => {
  expect(JSON.parse(printJson(reportOf(true)))).toMatchObject({ schema: 1, status: 'clean', runs: 1, violations: [] })
  expect(JSON.parse(printJson(reportOf(false)))).toMatchObject({ status: 'violations', found: { V7: 1 } })
  expect(JSON.parse(printJson(new UnreadableLedger('gone')))).toEqual({
    schema: 1,
    status: 'unreadable',
    error: 'gone',
  })
})
