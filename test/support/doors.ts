/**
 * The trigger sources and webhooks of a test system, on the test's clock, opened again after a crash.
 *
 * Owns only that opening.
 */
import { type Integrations, openIntegrations } from '#compose/integrations.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import type { TestStore, TestSystem } from '#testing/system.ts'

export const openDoors = (system: TestSystem, place: TestStore, environment: Environment = {}): Integrations =>
  openIntegrations(system.engine, system.store, { ids: place.ids(), clock: system.clock }, environment)
