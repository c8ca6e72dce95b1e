/** Compares the open file with the file of its name. */
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identityOf, Presence } from './presence.ts'

let folder: string
let file: string
let presence: Presence

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-presence-'))
  file = join(folder, 'ledger.db')
  writeFileSync(file, 'ledger')
  writeFileSync(`${file}-wal`, 'log')
  presence = new Presence(file)
  presence.opened()
})

afterEach(() => rmSync(folder, { recursive: true }))

test('presence-1: a commit after the file was moved has an unknown outcome, and writes continue once the file is back', () => {
  presence.afterCommit()
  renameSync(file, `${file}.away`)
  expect(() => presence.afterCommit()).toThrow(expect.objectContaining({ code: 'LEDGER_MISSING', outcome: 'unknown' }))
  expect(() => presence.beforeWriting()).toThrow(expect.objectContaining({ outcome: 'not_done' }))
  renameSync(`${file}.away`, file)
  presence.beforeWriting()
  presence.afterCommit()
})

test('presence-1: a deleted log is noticed before the next transaction', () => {
  presence.afterCommit()
  renameSync(file, `${file}.away`)
  expect(() => presence.afterCommit()).toThrow('LEDGER_MISSING')
  renameSync(`${file}.away`, file)
  rmSync(`${file}-wal`)
  expect(() => presence.beforeWriting()).toThrow(`${file}-wal was deleted`)
})

test('presence-2: a missing file is not opened again, neither here nor in a thread', () => {
  const elsewhere = new Presence(file, identityOf(file))
  rmSync(file)
  expect(() => presence.beforeOpening()).toThrow('LEDGER_MISSING')
  expect(() => elsewhere.beforeOpening()).toThrow('LEDGER_MISSING')
  expect(existsSync(file)).toBe(false)
})
