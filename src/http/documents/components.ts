/** Every document that routes answer with, by the name under which they refer to it. */
import type { Schema } from '../schema.ts'
import { chatComponents } from './chats.ts'
import { costComponents } from './costs.ts'
import { eventComponents } from './events.ts'
import { filterComponents } from './filters.ts'
import { jobComponents } from './jobs.ts'
import { manifestComponents } from './manifest.ts'
import { queueComponents } from './queues.ts'
import { runComponents } from './runs.ts'
import { scheduleComponents } from './schedules.ts'
import { serverComponents } from './server.ts'
import { sessionComponents } from './sessions.ts'
import { taskComponents } from './tasks.ts'
import { tokenComponents } from './tokens.ts'
import { workerComponents } from './workers.ts'

export const COMPONENTS: Readonly<Record<string, Schema>> = {
  ...serverComponents,
  ...eventComponents,
  ...runComponents,
  ...jobComponents,
  ...filterComponents,
  ...taskComponents,
  ...tokenComponents,
  ...scheduleComponents,
  ...queueComponents,
  ...workerComponents,
  ...manifestComponents,
  ...sessionComponents,
  ...chatComponents,
  ...costComponents,
}
