/** Checks one session, fact by fact: its chain, its checkpoints and the blobs it names. It is never woken, so it is not checked at rest. */
import { SessionChecks } from '#cli/verify/checks/session-checks.ts'
import { readBody } from '#cli/verify/source/fact.ts'
import { blobsNamedBy } from '#cli/verify/source/payloads.ts'
import { beginChain, endChain, type Inspection } from './inspection.ts'
import { type FactRow, nameOf, type StreamRow } from './tables.ts'

export const inspectSession = async (
  inspection: Inspection,
  row: StreamRow,
  facts: AsyncIterable<FactRow>,
): Promise<void> => {
  const { findings, blobs } = inspection
  const chain = beginChain(inspection, row)
  const checkpoints = new SessionChecks(findings)
  findings.count('sessions')
  for await (const fact of facts) {
    findings.count('facts')
    chain.next(fact)
    const place = { stream: nameOf(row), seq: fact.seq }
    const body = readBody(fact.body)
    findings.expect('V4', body !== null, place, () => `the fact ${fact.type} cannot be read`)
    if (body === null) continue
    for (const hash of [...blobsNamedBy(fact.type, body), ...checkpoints.next(fact.type, body, place)])
      blobs.named(hash, place)
  }
  endChain(inspection, row, chain)
}
