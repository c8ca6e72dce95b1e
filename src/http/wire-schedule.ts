/** A schedule on the wire: snake_case, instants as text, its timing in the words it was written in. */

import type { ScheduleView } from '../engine/schedules.ts'
import type { Timing } from '../model/schedule-spec.ts'
import type { Schedule as ScheduleDocument } from './api.ts'
import { englishOf } from './cron-text.ts'
import { isoTime, isoTimeOrNull } from './wire-time.ts'

const timingText = (timing: Timing): string => {
  switch (timing.kind) {
    case 'cron':
      return timing.expression
    case 'every':
      return `every ${timing.everyMs / 1_000}s${timing.phaseMs === 0 ? '' : ` + ${timing.phaseMs / 1_000}s`}`
    case 'at':
      return `at ${isoTime(timing.at)}`
  }
}

export const scheduleDocument = async (view: ScheduleView): Promise<ScheduleDocument> => ({
  name: view.name,
  target: view.target,
  timing: timingText(view.timing),
  english: await englishOf(view.timing),
  tz: view.tz,
  status: view.status,
  next_at: isoTimeOrNull(view.nextAt),
  fired: view.fired,
  running: view.running,
  waiting: view.waiting,
  last: view.last === null ? null : { run_id: view.last.run, slot: isoTime(view.last.slot), status: view.last.status },
  paused_by: view.pausedBy,
})
