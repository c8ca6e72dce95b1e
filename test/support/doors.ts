/**
 * The doors of a test system: its sources and webhooks on the test's own clock, opened again after a crash.
 *
 * Owns nothing but that opening.
 */
import { type Doors, joinDoors } from '../../src/assemble-doors.ts'
import type { Environment } from '../../src/manifest/reference.ts'
import type { TestStore, TestSystem } from '../../src/testing/system.ts'

export const openDoors = (system: TestSystem, place: TestStore, environment: Environment = {}): Doors =>
  joinDoors(system.engine, system.store, { ids: place.ids(), clock: system.clock }, environment)
