/**
 * The verdict on a ledger file after a disaster: is it sound, does it contain everything acknowledged, are its rows consistent.
 *
 * Owns the list of checks. Uses the driver and the checker that shares no code with the engine; never the adapter under test.
 */
import { verifyLedger } from '#cli/verify/verify.ts'
import type { Receipt } from '#test/support/traffic/traffic.ts'
import { compare, damage, sqliteCensus } from './census.ts'

/** The checker's findings, one sentence each. */
export const check = async (target: Parameters<typeof verifyLedger>[0]): Promise<readonly string[]> => {
  const { violations } = await verifyLedger(target)
  return violations.map(({ id, stream, seq, sentence }) => `${id} ${stream ?? '-'}/${seq ?? '-'} ${sentence}`)
}

/** Everything that is wrong, one sentence each. */
export const judgeFile = async (file: string, receipts: readonly Receipt[]): Promise<readonly string[]> => {
  const broken = damage(file)
  if (broken !== null) return [`the file is damaged: ${broken}`]
  return [...compare(sqliteCensus(file), receipts), ...(await check({ file }))]
}
