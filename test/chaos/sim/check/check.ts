/** All checks of a schedule that has ended. Each returns sentences that begin with the invariant's id. */
import { checkAcknowledged } from './acknowledged.ts'
import { checkChains } from './chain.ts'
import { checkDeadlines } from './deadlines.ts'
import { checkEffects } from './effects.ts'
import { checkEvents } from './events.ts'
import type { Evidence } from './evidence.ts'
import { checkFamilies } from './families.ts'
import { checkGates } from './gates.ts'
import { checkLives } from './life.ts'
import { checkOutputs } from './outputs.ts'
import { checkPeople } from './people.ts'
import { checkPins } from './pins.ts'
import { checkQuestions } from './questions.ts'
import { checkSchedules } from './schedules.ts'
import { checkWaits } from './waits.ts'

export const check = (evidence: Evidence): readonly string[] => [
  ...checkAcknowledged(evidence),
  ...checkChains(evidence),
  ...checkLives(evidence),
  ...checkWaits(evidence),
  ...checkEvents(evidence),
  ...checkEffects(evidence),
  ...checkOutputs(evidence),
  ...checkFamilies(evidence),
  ...checkGates(evidence),
  ...checkSchedules(evidence),
  ...checkPeople(evidence),
  ...checkQuestions(evidence),
  ...checkDeadlines(evidence),
  ...checkPins(evidence),
]
