/** Reads all facts of a run from the ledger, a thousand at a time. Owns the paging, not the meaning of facts. */
import type { Service } from '#http/server/service.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'

const AT_ONCE = 1_000

export const allFacts = async (
  { reader, tenant }: Pick<Service, 'reader' | 'tenant'>,
  run: RunId,
): Promise<readonly RunFact[]> => {
  const all: RunFact[] = []
  for (;;) {
    const page = await reader.facts(tenant, run, { after: all.length, limit: AT_ONCE })
    for (const fact of page) all.push(readRunFact(fact))
    if (page.length < AT_ONCE) return all
  }
}
