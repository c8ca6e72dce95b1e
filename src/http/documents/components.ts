/** All schemas that routes answer with, by the name under which they are referenced. */
import type { Schema } from '#http/openapi/schema.ts'
import { chatComponents } from './chats.ts'
import { costComponents } from './costs.ts'
import { eventComponents } from './events.ts'
import { filterComponents } from './filters.ts'
import { jobComponents } from './jobs.ts'
import { manifestComponents } from './manifest.ts'
import { outcomeComponents } from './outcomes.ts'
import { planComponents } from './plans.ts'
import { queueComponents } from './queues.ts'
import { runComponents } from './runs.ts'
import { scheduleComponents } from './schedules.ts'
import { serverComponents } from './server.ts'
import { sessionComponents } from './sessions.ts'
import { settingComponents } from './settings.ts'
import { taskComponents } from './tasks.ts'
import { timelineComponents } from './timeline.ts'
import { tokenComponents } from './tokens.ts'
import { workerComponents } from './workers.ts'

export const COMPONENTS: Readonly<Record<string, Schema>> = {
  ...serverComponents,
  ...eventComponents,
  ...outcomeComponents,
  ...runComponents,
  ...timelineComponents,
  ...jobComponents,
  ...filterComponents,
  ...taskComponents,
  ...tokenComponents,
  ...settingComponents,
  ...scheduleComponents,
  ...queueComponents,
  ...planComponents,
  ...workerComponents,
  ...manifestComponents,
  ...sessionComponents,
  ...chatComponents,
  ...costComponents,
}
