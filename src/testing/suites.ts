/**
 * The conformance suites: one for every port, and stories for machines. They are written for vitest and fast-check, which the user of the suites
 * must install; the parts that need neither are in `trihand/testing`.
 */
export { blobsSuite } from './blobs-suite.ts'
export { dispatcherSuite } from './dispatcher-suite.ts'
export { executorSuite } from './executor-suite.ts'
export { ledgerSuite } from './ledger-suite.ts'
export { MODEL_SUITE, type ModelScenario, type ModelUnderTest, modelSuite } from './model-suite.ts'
export { outboxSuite } from './outbox-suite.ts'
export { readerSuite } from './reader-suite.ts'
export { specify } from './spec.ts'
