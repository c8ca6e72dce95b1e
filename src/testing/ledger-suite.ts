/**
 * The one conformance suite for every Ledger. An implementation calls it with a function that opens an empty store.
 *
 * Owns what the port's promises mean in detail; where the port does not specify something, this suite decides:
 * - "Due at once" means that a claim at the append's own instant (its largest recordedAt or createdAt) gets the run; where the append
 *   records nothing, such as an event alone, a claim at the time of the run's last fact does. An event's time is its sender's.
 * - A wait whose count of events differs is a signal like any other: it raises the run's counter.
 * - A parked run is due at once after any write whose `seenSignal` is behind, by its holder or by others, unless it has ended.
 * - A conflict in both epoch and version is reported as `epoch`; a conflict of a stream is reported before `taken`, and that before a stream
 *   which exists already.
 * - A worker that never sent a heartbeat counts as silent: the next heartbeat of another worker frees its leases.
 */
import { afterEach, beforeEach, describe } from 'vitest'
import { appendSuite } from '#testing/ledger/append-suite.ts'
import { claimsSuite } from '#testing/ledger/claims-suite.ts'
import { durabilitySuite } from '#testing/ledger/durability-suite.ts'
import { eventsSuite } from '#testing/ledger/events-suite.ts'
import { fencingSuite } from '#testing/ledger/fencing-suite.ts'
import { type LedgerCapabilities, LedgerHarness, type OpenLedger } from '#testing/ledger/harness.ts'
import { historiesSuite } from '#testing/ledger/histories-suite.ts'
import { idempotenceSuite } from '#testing/ledger/idempotence-suite.ts'
import { keysSuite } from '#testing/ledger/keys-suite.ts'
import { lanesSuite } from '#testing/ledger/lanes-suite.ts'
import { pinsSuite } from '#testing/ledger/pins-suite.ts'
import { signalsSuite } from '#testing/ledger/signals-suite.ts'
import { slotsSuite } from '#testing/ledger/slots-suite.ts'
import { valuesSuite } from '#testing/ledger/values-suite.ts'
import { workersSuite } from '#testing/ledger/workers-suite.ts'

/** Defines the tests that every implementation of the port `Ledger` passes. */
export const ledgerSuite = (name: string, open: OpenLedger, capabilities: LedgerCapabilities = {}): void => {
  describe(`ledger: ${name}`, () => {
    const harness = new LedgerHarness(open, capabilities)
    beforeEach(() => harness.start())
    afterEach(() => harness.stop())
    appendSuite(harness)
    idempotenceSuite(harness)
    describe('fencing', () => fencingSuite(harness))
    eventsSuite(harness)
    signalsSuite(harness)
    valuesSuite(harness)
    describe('claims', () => claimsSuite(harness))
    describe('slots', () => slotsSuite(harness))
    describe('lanes', () => lanesSuite(harness))
    describe('keys', () => keysSuite(harness))
    describe('workers', () => workersSuite(harness))
    describe('pins', () => pinsSuite(harness))
    durabilitySuite(harness)
    describe('histories', () => historiesSuite(harness))
  })
}
