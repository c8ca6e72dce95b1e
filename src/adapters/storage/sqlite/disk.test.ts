/** The kind of disk by the number of its file system: the real ones are not available in a test. */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { diskOf, diskOfType } from './disk.ts'

test.each([
  ['nfs', 0x6969, 'network'],
  ['smb', 0x517b, 'network'],
  ['smb2', 0xfe534d42, 'network'],
  ['cifs', 0xff534d42, 'network'],
  ['cifs as a signed number', 0xff534d42 | 0, 'network'],
  ['9p', 0x01021997, 'network'],
  ['tmpfs', 0x01021994, 'memory'],
  ['ext4', 0xef53, 'local'],
])('a disk of type %s', (_, type, disk) => {
  expect(diskOfType(type)).toBe(disk)
})

test('the directory of temporary files is never on a network disk', async () => {
  expect(await diskOf(tmpdir())).not.toBe('network')
})

test.runIf(existsSync('/dev/shm'))('shared memory is recognised as a disk in memory', async () => {
  expect(await diskOf('/dev/shm')).toBe('memory')
})
