/**
 * The verdict on a ledger file after a disaster: is it sound, is everything acknowledged there, do its rows agree with each other.
 *
 * Owns the list of questions. Judges by the driver and by the checker that shares no code with us; never by the adapter under test.
 */
import { verifyLedger } from '#cli/verify/verify.ts'
import type { Receipt } from '#test/support/traffic/traffic.ts'
import { compare, damage, sqliteCensus } from './census.ts'

/** The checker's findings, one sentence each. */
export const check = async (target: Parameters<typeof verifyLedger>[0]): Promise<readonly string[]> => {
  const { violations } = await verifyLedger(target)
  return violations.map(({ id, stream, seq, sentence }) => `${id} ${stream ?? '-'}/${seq ?? '-'} ${sentence}`)
}

/** Everything that is wrong, as sentences. */
export const judgeFile = async (file: string, receipts: readonly Receipt[]): Promise<readonly string[]> => {
  const broken = damage(file)
  if (broken !== null) return [`the file is damaged: ${broken}`]
  return [...compare(sqliteCensus(file), receipts), ...(await check({ file }))]
}
