/**
 * The results of the orders, counted in the tables: each acknowledged one was processed exactly once, end to end.
 *
 * Owns the shop's own promise; the consistency of rows is the checker's (src/cli/verify).
 */
import type { Query, Row } from '#test/chaos/query.ts'

const ORDERS = `select e.id as id, s.status as status from event e left join stream s on s.event = e.seq and s.handler = 'order'
  where e.type = 'shop/ordered'`
const SHIPMENTS = `select e.data as data, s.status as status from event e left join stream s on s.event = e.seq and s.handler = 'ship'
  where e.type = 'shop/shipped'`
const DOCUMENTS = `select key from document where table_name = 'order'`

const countBy = (rows: readonly Row[], key: (row: Row) => string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(key(row), (counts.get(key(row)) ?? 0) + 1)
  return counts
}

const orderOf = (row: Row): string => String((JSON.parse(String(row['data'])) as { order: string }).order)

/** One sentence per order that was lost, doubled or left unprocessed. */
export const judgeOrders = async (query: Query, acknowledged: Iterable<string>): Promise<readonly string[]> => {
  const done = (rows: readonly Row[]): readonly Row[] => rows.filter((row) => row['status'] === 'success')
  const orders = countBy(done(await query(ORDERS)), (row) => String(row['id']))
  const shipments = countBy(done(await query(SHIPMENTS)), orderOf)
  const documents = countBy(await query(DOCUMENTS), (row) => String(row['key']))
  const wrong: string[] = []
  for (const order of acknowledged) {
    const found = {
      runs: orders.get(order) ?? 0,
      shipments: shipments.get(order) ?? 0,
      documents: documents.get(order) ?? 0,
    }
    if (found.runs === 1 && found.shipments === 1 && found.documents === 1) continue
    wrong.push(`V1 ${order} was acknowledged; there are ${JSON.stringify(found)} of it`)
  }
  return wrong
}

/** Acknowledged orders that the ledger does not contain. */
export const lostOrders = async (query: Query, acknowledged: Iterable<string>): Promise<readonly string[]> => {
  const known = new Set((await query(ORDERS)).map((row) => String(row['id'])))
  return [...acknowledged].filter((order) => !known.has(order))
}
