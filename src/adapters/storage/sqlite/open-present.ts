/** Opens a ledger file for writing, the first time or after an I/O error, unless another file has its name by now (presence-2). */
import type { Database, DatabaseClass } from './driver.ts'
import type { Presence } from './presence.ts'
import { rewriteLog } from './rewrite-log.ts'
import { type Durability, openForWriting } from './settings.ts'

export const openPresent = (
  presence: Presence,
  driver: DatabaseClass,
  file: string,
  durability: Durability,
): Database => {
  presence.beforeOpening()
  rewriteLog(file)
  const db = openForWriting(driver, file, durability)
  presence.opened()
  return db
}
