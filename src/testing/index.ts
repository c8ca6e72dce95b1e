/** The public test kit: conformance suites for every port, time by hand, stores that fail, a whole system for tests. */
export { blobsSuite } from './blobs-suite.ts'
export { dispatcherSuite } from './dispatcher-suite.ts'
export { faultyLedger } from './faulty-ledger.ts'
export { ledgerSuite } from './ledger-suite.ts'
export { readerSuite } from './reader-suite.ts'
export { specify } from './spec.ts'
export { startTestSystem, type TestStore, type TestSystem } from './system.ts'
export { VirtualClock } from './virtual-clock.ts'
