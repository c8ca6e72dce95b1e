/** The rules of a power cut, each with a case that would break it. */
import { expect, test } from 'vitest'
import { Random } from '#test/support/random.ts'
import { Disk, FATES, type Fate } from './disk.ts'
import type { Entry } from './journal.ts'

const PATH = '/ledger.db'
const opened: Entry = { kind: 'open', file: 0, path: PATH, created: true }
const folderSynced: Entry = { kind: 'folder_sync' }
const synced: Entry = { kind: 'sync', file: 0 }
const wrote = (offset: number, bytes: Buffer): Entry => ({ kind: 'write', file: 0, offset, bytes })
const page = (letter: string, length = 2_048): Buffer => Buffer.alloc(length, letter)

const diskAfter = (...entries: readonly Entry[]): Disk => {
  const disk = new Disk(new Random(1))
  for (const entry of [opened, folderSynced, ...entries]) disk.apply(entry)
  return disk
}

/** Every image that a number of random draws gives. */
const images = (disk: Disk, fates: readonly Fate[] = FATES): readonly Buffer[] =>
  fates.flatMap((fate) =>
    Array.from({ length: 200 }, (_, seed) => disk.image(fate, new Random(seed)).get(PATH) ?? Buffer.alloc(0)),
  )

const texts = (disk: Disk, fates?: readonly Fate[]): ReadonlySet<string> =>
  new Set(images(disk, fates).map((bytes) => bytes.toString('latin1')))

test('disk-1: what was synced is in every image', () => {
  const disk = diskAfter(wrote(0, page('a')), synced)
  expect(texts(disk)).toEqual(new Set([page('a').toString()]))
})

test('disk-2: an unsynced write is missing in one image, complete in another, and partial in others', () => {
  const found = texts(diskAfter(wrote(0, page('a')), synced, wrote(0, page('b'))))
  expect(found).toContain(page('a').toString())
  expect(found).toContain(page('b').toString())
  expect(found).toContain(page('b', 1_024).toString() + page('a', 1_024).toString())
})

test('disk-2: a later unsynced write can survive an earlier one', () => {
  const found = texts(diskAfter(wrote(0, page('a', 512)), wrote(512, page('b', 512))))
  expect(found).toContain('\0'.repeat(512) + 'b'.repeat(512))
})

test('disk-2: a file can have grown by blocks that were never written', () => {
  expect(texts(diskAfter(wrote(0, page('a', 512))))).toContain('\0'.repeat(512))
})

test('disk-3: tears run along sectors and leave the bytes around a write alone', () => {
  const disk = diskAfter(wrote(0, page('a')), synced, wrote(100, page('b', 1_000)))
  for (const text of texts(disk, ['torn'])) {
    expect(text).toMatch(/^a{100}(a{412}|b{412})(a{512}|b{512})(a{76}|b{76})a{948}$/)
  }
})

test('disk-4: a sync that failed leaves a gap that no later sync fills', () => {
  const disks = Array.from({ length: 50 }, (_, seed) => {
    const disk = new Disk(new Random(seed))
    const failed: Entry = { kind: 'sync_failed', file: 0 }
    for (const entry of [opened, folderSynced, wrote(0, page('a', 512)), failed, wrote(512, page('b', 512)), synced])
      disk.apply(entry)
    return disk
  })
  const found = new Set(disks.flatMap((disk) => [...texts(disk, ['all_kept'])]))
  expect(found).toEqual(new Set(['a'.repeat(512) + 'b'.repeat(512), '\0'.repeat(512) + 'b'.repeat(512)]))
})

test('disk-5: a name that was not synced with its folder may be gone, whatever was synced in the file', () => {
  const disk = new Disk(new Random(1))
  for (const entry of [opened, wrote(0, page('a')), synced]) disk.apply(entry)
  expect(disk.image('all_lost', new Random(1)).has(PATH)).toBe(false)
  disk.apply(folderSynced)
  expect(disk.image('all_lost', new Random(1)).has(PATH)).toBe(true)
})

test('disk-5: a deletion that was not synced may be undone', () => {
  const disk = diskAfter(wrote(0, page('a')), synced, { kind: 'unlink', path: PATH })
  expect(disk.image('all_lost', new Random(1)).get(PATH)).toEqual(page('a'))
  expect(disk.image('all_kept', new Random(1)).has(PATH)).toBe(false)
})
