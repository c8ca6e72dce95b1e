/**
 * One inspection of a ledger: the findings, and the checks that span streams.
 *
 * Owns their order: streams are read first, then the remaining queries are sent to the tables.
 */
import { BlobChecks } from '#cli/verify/checks/blob-checks.ts'
import { ChainChecks } from '#cli/verify/checks/chain-checks.ts'
import { ChildChecks } from '#cli/verify/checks/child-checks.ts'
import { CoordinatorStarts } from '#cli/verify/checks/coordinator-starts.ts'
import { EffectKeys } from '#cli/verify/checks/effect-keys.ts'
import { EventChecks } from '#cli/verify/checks/event-checks.ts'
import { EvidenceChecks } from '#cli/verify/checks/evidence-checks.ts'
import { ReuseChecks } from '#cli/verify/checks/reuse-checks.ts'
import { WaitChecks } from '#cli/verify/checks/wait-checks.ts'
import type { Evidence } from '#cli/verify/source/evidence.ts'
import type { Seals } from '#cli/verify/source/seals.ts'
import type { Anchor } from './anchor.ts'
import type { Opened } from './opened.ts'
import { Findings, NOWHERE } from './report.ts'
import type { Scratch } from './scratch.ts'
import { type Moment, nameOf, type StreamRow, type Tables } from './tables.ts'

export interface Inspection {
  readonly findings: Findings
  readonly moment: Moment
  readonly blobs: BlobChecks
  readonly children: ChildChecks
  readonly coordinators: CoordinatorStarts
  readonly effectKeys: EffectKeys
  readonly events: EventChecks
  readonly evidence: EvidenceChecks
  readonly reused: ReuseChecks
  readonly waits: WaitChecks
  readonly seals: Seals
  readonly opened: Opened
  readonly anchor: Anchor | null
}

/** What an inspection needs besides the tables. */
export interface Instruments {
  readonly evidence: Evidence | undefined
  readonly seals: Seals
  readonly opened: Opened
  readonly anchor: Anchor | null
}

export const beginChain = ({ findings, seals, anchor }: Inspection, row: StreamRow): ChainChecks =>
  new ChainChecks(findings, row, seals, anchor?.of(nameOf(row)) ?? null)

export const endChain = ({ anchor }: Inspection, row: StreamRow, chain: ChainChecks): void => {
  chain.end()
  anchor?.keep(nameOf(row), chain.head)
}

export const openInspection = async (
  tables: Tables,
  scratch: Scratch,
  { evidence, seals, anchor, opened }: Instruments,
): Promise<Inspection> => {
  const findings = new Findings()
  const coordinators = new CoordinatorStarts(findings, tables, scratch)
  return {
    findings,
    moment: await tables.moment(),
    blobs: new BlobChecks(findings, tables, opened),
    children: new ChildChecks(findings, tables, coordinators),
    coordinators,
    effectKeys: new EffectKeys(scratch),
    events: new EventChecks(findings, tables, seals),
    evidence: await EvidenceChecks.open(findings, evidence, scratch),
    reused: new ReuseChecks(findings, tables),
    waits: new WaitChecks(findings, tables, scratch),
    ...{ seals, anchor, opened },
  }
}

/** Called between two streams. */
export const settleInspection = async (inspection: Inspection): Promise<void> => {
  const { blobs, children, coordinators, events, reused, waits } = inspection
  for (const checks of [blobs, children, coordinators, events, reused, waits]) await checks.settle()
}

/** Called after the last stream. */
export const endInspection = async (inspection: Inspection, tables: Tables): Promise<void> => {
  const { findings, blobs, children, coordinators, events, evidence, reused, waits, anchor } = inspection
  for (const table of ['fact', 'wait'] as const) {
    for await (const { stream, count } of tables.strays(table)) {
      findings.expect(
        'V2',
        false,
        NOWHERE,
        () => `${count} rows in table ${table} belong to stream ${stream}, which does not exist`,
      )
    }
  }
  for await (const { hex, seq } of tables.modelCallFaults()) {
    const place = { stream: hex === null ? null : `run_${hex}`, seq }
    findings.expect('V4', false, place, () => 'the list of model calls and this fact disagree')
  }
  await children.end()
  await coordinators.end()
  await reused.end()
  await waits.end()
  for await (const event of tables.events()) {
    findings.count('events')
    events.checkChain(event)
    events.checkData(event)
    waits.event(event)
  }
  await events.end()
  await evidence.end(tables)
  await blobs.end()
  anchor?.end(findings)
}
