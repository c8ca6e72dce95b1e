/** One schedule opened: its next slots on the clocks of both zones, what the next change of the clocks does, its past, its policies. */
import { Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Schedule } from '../../api/documents.ts'
import { When } from '../../parts/when.tsx'
import { Slots } from './slots.tsx'
import { inZone, OWN_ZONE } from './zones.ts'

const Part = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <div>
    <Title order={2} size="h5">
      {title}
    </Title>
    {children}
  </div>
)

const Next = ({ schedule: { name, next, tz } }: { readonly schedule: Schedule }) => {
  const zones = tz === OWN_ZONE ? [tz] : [tz, OWN_ZONE]
  if (next.length === 0) return <Text className="quiet">Nothing is to come.</Text>
  return (
    <Table aria-label={`Next slots of ${name}`} className="rows" withRowBorders={false} verticalSpacing={2} w="auto">
      <Table.Thead>
        <Table.Tr>
          {zones.map((zone, i) => (
            <Table.Th key={zone}>
              {zone}
              {i > 0 && ', yours'}
            </Table.Th>
          ))}
          <Table.Th>From now</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {next.map((slot) => (
          <Table.Tr key={slot}>
            {zones.map((zone) => (
              <Table.Td key={zone}>{inZone(slot, zone)}</Table.Td>
            ))}
            <Table.Td>
              <When at={slot} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

const ClockNote = ({ schedule: { tz, clock_change: change } }: { readonly schedule: Schedule }) => {
  if (change === null) return null
  const effect =
    change.minutes > 0
      ? 'forward: a named hour that is skipped runs once, right after the gap.'
      : 'back: a named hour that comes twice runs on its first pass only.'
  return (
    <Text className="quiet" mt="xs">
      On {inZone(change.at, tz)} the clocks of {tz} are put {Math.abs(change.minutes)} minutes {effect}
    </Text>
  )
}

const policiesOf = ({ policies: rules }: Schedule): readonly (readonly [string, string])[] => [
  ['If the run before has not ended', rules.overlap],
  ['Missed slots', `${rules.missed}, up to ${rules.missed_max} of the last ${rules.missed_window}`],
  ...(rules.jitter === '0ms' ? [] : [['Each a little late', `up to ${rules.jitter}`] as const]),
  ...(rules.starts === null ? [] : [['Not before', rules.starts] as const]),
  ...(rules.ends === null ? [] : [['Not after', rules.ends] as const]),
  ...(rules.exclusions === 0 ? [] : [['Left out', `${rules.exclusions} exclusions`] as const]),
  ...(rules.max_runs === null ? [] : [['At most', `${rules.max_runs} runs`] as const]),
  ...(rules.pause_on_failures === null
    ? []
    : [['Pauses after', `${rules.pause_on_failures} failures in a row`] as const]),
  ...(rules.adaptive === null ? [] : [['Adapts', `from ${rules.adaptive.min} to ${rules.adaptive.max}`] as const]),
]

export const ScheduleDetail = ({ schedule }: { readonly schedule: Schedule }) => (
  <div className="schedule-detail">
    <Part title="Next">
      <Next schedule={schedule} />
      <ClockNote schedule={schedule} />
    </Part>
    <Part title="Last slots">
      <Slots name={schedule.name} tz={schedule.tz} />
    </Part>
    <Part title="Policies">
      <dl className="pairs">
        {policiesOf(schedule).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Part>
  </div>
)
