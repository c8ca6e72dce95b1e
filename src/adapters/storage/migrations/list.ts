/** Every migration, in order. A released one never changes. */
import { ledgerTables } from './0001-ledger.ts'
import { lanes } from './0002-lanes.ts'
import { workerInfo } from './0003-worker-info.ts'
import { eventTypes } from './0004-event-types.ts'
import { tasks } from './0005-tasks.ts'
import { reading } from './0006-reading.ts'
import { lists } from './0007-lists.ts'
import { news } from './0008-news.ts'
import { heldRows } from './0009-held-rows.ts'
import { lookups } from './0010-lookups.ts'
import { modelCalls } from './0011-model-calls.ts'
import { pins } from './0012-pins.ts'
import { eventValues } from './0013-event-values.ts'
import { anyKeys } from './0014-any-keys.ts'
import { requesters } from './0015-requesters.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [
  ledgerTables,
  lanes,
  workerInfo,
  eventTypes,
  tasks,
  reading,
  lists,
  news,
  heldRows,
  lookups,
  modelCalls,
  pins,
  eventValues,
  anyKeys,
  requesters,
]
