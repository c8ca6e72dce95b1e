/** How ids are spelled. */
import { expect, test } from 'vitest'
import {
  claimableId,
  gateId,
  isClaimable,
  isRunId,
  isStreamId,
  isTaskId,
  LOCAL_TENANT,
  runId,
  scheduleId,
  sessionId,
  taskId,
  timedRunId,
  workerId,
} from './ids.ts'

const UUID = '018F3A6C-0000-7000-8000-0123456789AB'
const HEX = '018f3a6c0000700080000123456789ab'

test('an id is its prefix and 32 hex digits, with or without dashes in the uuid', () => {
  expect([runId(UUID), runId(HEX)]).toEqual([`run_${HEX}`, `run_${HEX}`])
  expect(sessionId(UUID)).toBe(`ses_${HEX}`)
  expect(workerId(UUID)).toBe(`wrk_${HEX}`)
  expect(LOCAL_TENANT).toBe('local')
})

test('the id of a stream is that of a run or a session, not of a worker', () => {
  expect([runId(UUID), sessionId(UUID), workerId(UUID)].map(isStreamId)).toEqual([true, true, false])
  expect([runId(UUID), sessionId(UUID), workerId(UUID)].map(isRunId)).toEqual([true, false, false])
})

test('the same digest gives the same id, and run ids sort by time', () => {
  const [one, other] = ['-_'.repeat(22), 'aB'.repeat(22)]
  expect(timedRunId(1_000, one)).toBe(timedRunId(1_000, one))
  expect(isRunId(timedRunId(1_000, one))).toBe(true)
  expect(timedRunId(1_000, one)).not.toBe(timedRunId(1_000, other))
  expect(timedRunId(1_000, one) < timedRunId(1_001, other)).toBe(true)
  expect(timedRunId(1_001, one) > timedRunId(1_000, other)).toBe(true)
})

test('a task id differs from a run id by its uuid alone, and task ids sort by time', () => {
  const task = taskId(UUID)
  expect(task).toBe('tsk_018f3a6c0000830080000123456789ab')
  expect([isTaskId(task), isRunId(task), isStreamId(task), isClaimable(task)]).toEqual([true, false, true, true])
  expect(claimableId(task.slice(4))).toBe(task)
  expect(isTaskId(runId(UUID))).toBe(false)
  expect(task < taskId(UUID.replace('018F3A6C', '018F3A6D'))).toBe(true)
})

test('a coordinator id differs from a run id by its uuid alone', () => {
  const digest = 'Ab-_9Zz0Qw'.repeat(5)
  for (const id of [gateId(digest), scheduleId(digest), runId(UUID)]) {
    expect(isStreamId(id)).toBe(true)
    expect(isClaimable(id)).toBe(true)
    expect(claimableId(id.slice(4))).toBe(id)
  }
  expect(isRunId(gateId(digest))).toBe(false)
  expect(isClaimable(sessionId(UUID))).toBe(false)
})

test.each([
  '',
  'run_',
  `run_${HEX}0`,
  `run_${HEX.slice(1)}`,
  `RUN_${HEX}`,
  `run_${HEX}\n`,
  ` run_${HEX}`,
  `run_${HEX.toUpperCase()}`,
])('%j is not an id', (text) => {
  expect(isStreamId(text)).toBe(false)
  expect(isRunId(text)).toBe(false)
})
