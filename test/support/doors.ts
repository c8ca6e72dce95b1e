/**
 * The doors of a test system: its sources and webhooks on the test's own clock, opened again after a crash.
 *
 * Owns nothing but that opening.
 */
import { type Integrations, openIntegrations } from '#compose/integrations.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import type { TestStore, TestSystem } from '#testing/system.ts'

export const openDoors = (system: TestSystem, place: TestStore, environment: Environment = {}): Integrations =>
  openIntegrations(system.engine, system.store, { ids: place.ids(), clock: system.clock }, environment)
