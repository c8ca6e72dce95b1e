/**
 * Detects whether a ledger's disk is local, on a network or in memory, by its file system.
 *
 * Owns the list of file systems that lose locks or data. Never opens the ledger.
 */
import { statfs } from 'node:fs/promises'

export type Disk = 'local' | 'network' | 'memory'

/** Magic numbers of Linux, `man 2 statfs`. Other systems use other numbers. */
const NETWORK: ReadonlySet<number> = new Set([
  0x6969, // nfs
  0x517b, // smb
  0xfe534d42, // smb2
  0xff534d42, // cifs
  0x01021997, // 9p
])
const TMPFS = 0x01021994

export const diskOfType = (type: number): Disk => {
  const magic = type >>> 0
  if (NETWORK.has(magic)) return 'network'
  return magic === TMPFS ? 'memory' : 'local'
}

export const diskOf = async (directory: string): Promise<Disk> =>
  process.platform === 'linux' ? diskOfType((await statfs(directory)).type) : 'local'
