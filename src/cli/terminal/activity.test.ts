/** The activity log of a serving process, and its limit. */
import { expect, test } from 'vitest'
import type { RunNotice } from '#engine/core/publish.ts'
import { runId } from '#model/kernel/ids.ts'
import { BROKEN, fact } from '#test/support/stories/run-story.ts'
import { Activity } from './activity.ts'
import { Output } from './output.ts'

const RUN = runId('0190000000007000800000000000abcd')

const open = (json: boolean) => {
  const lines: string[] = []
  const stream = { write: (text: string) => lines.push(text) }
  const activity = new Activity(new Output({ stdout: stream, stderr: stream, env: {}, json, quiet: false }))
  return { activity, lines }
}

const notice = (changes: Partial<RunNotice>): RunNotice => ({
  run: RUN,
  handler: 'mail',
  status: 'running',
  version: 1,
  facts: [],
  ...changes,
})

test('a fact is printed as a line: time, run, function, text', () => {
  const { activity, lines } = open(false)
  activity.hear(
    notice({
      facts: [fact('step.completed', { step: 'send', at: 1_500 }), fact('run.failed', { at: 2_000, error: BROKEN })],
    }),
  )
  activity.stop()
  expect(lines).toEqual([
    '00:00:01.500  run_0000abcd  mail  send: done\n',
    '00:00:02.000  run_0000abcd  mail  failed, FUNCTION_FAILED: it broke\n',
  ])
})

test('with --json a fact is a document with the whole run id', () => {
  const { activity, lines } = open(true)
  activity.hear(notice({ facts: [fact('timer.fired', { at: 0 })] }))
  activity.stop()
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      type: 'fact',
      run_id: RUN,
      fact: 'timer.fired',
      step: 'mail',
      at: '1970-01-01T00:00:00.000Z',
      text: 'woke up',
    }),
  ])
})

test('[S21] control characters in the text of a run are escaped', () => {
  const { activity, lines } = open(false)
  activity.hear(
    notice({
      facts: [fact('run.failed', { error: { ...BROKEN, message: '\u001b[2J\nrun_0000abcd  mail  completed' } })],
    }),
  )
  activity.stop()
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('\\u001b[2J\\u000arun_')
})

test('more lines in a second than the limit are summed up, and none is dropped silently', () => {
  const { activity, lines } = open(false)
  for (let i = 0; i < 1_000; i++) activity.hear(notice({ facts: [fact('timer.fired')] }))
  activity.stop()
  expect(lines).toHaveLength(51)
  expect(lines.at(-1)).toBe('… and 950 more facts\n')
})
