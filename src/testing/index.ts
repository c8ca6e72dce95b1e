/**
 * The public test kit: a whole system for tests, manual time, stores that fail, scripted model servers.
 *
 * Never imports a test runner: it works under `node:test` as under any other. The suites of the ports are `trihand/testing/suites`.
 */

export { startAnthropicStub } from '#testing/stubs/anthropic-stub.ts'
export type { ModelStub, StubBlock, StubBody, StubCall, StubFault, StubOptions } from '#testing/stubs/model-stub.ts'
export { startOpenAIStub } from '#testing/stubs/openai-stub.ts'
export { faultyLedger } from './faulty-ledger.ts'
export { startTestSystem, type TestStore, type TestSystem } from './system.ts'
export {
  type PersonDecision,
  type SystemUnderTest,
  type TaskToDecide,
  type TestSystemOptions,
  testSystem,
} from './test-system.ts'
export { VirtualClock } from './virtual-clock.ts'
