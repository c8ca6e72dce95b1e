/** Details of a schedule: next runs in both time zones, the next clock change, recent runs, and policies. */
import { Table, Text, Title, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schedule, ScheduleSlot } from '../../api/documents.ts'
import { slotsQuery } from '../../api/queries.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'
import { inZone, OWN_ZONE } from './zones.ts'

// Recent slots of a schedule as ticks, oldest first: ran, failed, or skipped and why. They differ by shape and have a text label.

const REASONS: Readonly<Record<string, string>> = {
  coalesced: 'merged into the next run',
  policy: 'missed, and missed runs are skipped',
  window: 'missed too long ago',
  max: 'too many missed runs',
  paused: 'the schedule was paused',
  overlap: 'the previous run was still in progress',
  past: 'its time had passed',
}

const GOOD = new Set(['success', 'partial'])
const OPEN = new Set(['running', 'queued', 'waiting', 'paused', 'cancelling'])

/** The shape of a tick: ran, failed, open or skipped. */
const shapeOf = ({ outcome }: ScheduleSlot): string => {
  if (outcome === 'skipped') return 'skipped'
  if (OPEN.has(outcome)) return 'open'
  return GOOD.has(outcome) ? 'ran' : 'failed'
}

const told = (slot: ScheduleSlot, tz: string): string => {
  const when = inZone(slot.slot, tz)
  const which = slot.origin === 'backfill' ? ', backfilled' : slot.origin === 'now' ? ', started manually' : ''
  if (slot.outcome !== 'skipped') return `${when}${which}: ${slot.outcome}`
  const many = slot.count === 1 ? '' : ` and ${slot.count - 1} more`
  return `${when}${many}: skipped, ${REASONS[slot.reason ?? ''] ?? slot.reason}`
}

const Tick = ({ slot, tz }: { readonly slot: ScheduleSlot; readonly tz: string }) => {
  const words = told(slot, tz)
  return (
    <li>
      <Tooltip label={words}>
        {slot.run_id === null ? (
          <span className="slot-tick" data-shape={shapeOf(slot)} role="img" aria-label={words} />
        ) : (
          <Link
            to="/runs/$id"
            params={{ id: slot.run_id }}
            className="slot-tick"
            data-shape={shapeOf(slot)}
            aria-label={words}
          />
        )}
      </Tooltip>
    </li>
  )
}

const Slots = ({ name, tz }: { readonly name: string; readonly tz: string }) => {
  const { data, error, refetch } = useQuery(slotsQuery(name))
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <Text className="quiet">No runs yet.</Text>
  return (
    <>
      <ol className="ticks" aria-label="Recent runs">
        {data.items.map((slot) => (
          <Tick key={`${slot.slot} ${slot.run_id}`} slot={slot} tz={tz} />
        ))}
      </ol>
      <p className="quiet tick-legend">
        <span className="slot-tick" data-shape="ran" aria-hidden /> ran{' '}
        <span className="slot-tick" data-shape="failed" aria-hidden /> failed{' '}
        <span className="slot-tick" data-shape="skipped" aria-hidden /> skipped{' '}
        <span className="slot-tick" data-shape="open" aria-hidden /> in progress
      </p>
    </>
  )
}

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
  if (next.length === 0) return <Text className="quiet">No upcoming runs.</Text>
  return (
    <Table aria-label={`Next runs of ${name}`} className="rows" withRowBorders={false} verticalSpacing={2} w="auto">
      <Table.Thead>
        <Table.Tr>
          {zones.map((zone, i) => (
            <Table.Th key={zone}>
              {zone}
              {i > 0 && ' (your time)'}
            </Table.Th>
          ))}
          <Table.Th>When</Table.Th>
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
      ? 'forward. A run in the skipped hour starts once, right after it.'
      : 'back. A run in the repeated hour starts only the first time.'
  return (
    <Text className="quiet" mt="xs">
      On {inZone(change.at, tz)} clocks in {tz} move {Math.abs(change.minutes)} minutes {effect}
    </Text>
  )
}

const policiesOf = ({ policies: rules }: Schedule): readonly (readonly [string, string])[] => [
  ['If still running', rules.overlap],
  ['Missed runs', `${rules.missed}, up to ${rules.missed_max} of the last ${rules.missed_window}`],
  ...(rules.jitter === '0ms' ? [] : [['Jitter', `up to ${rules.jitter}`] as const]),
  ...(rules.starts === null ? [] : [['Starts', rules.starts] as const]),
  ...(rules.ends === null ? [] : [['Ends', rules.ends] as const]),
  ...(rules.exclusions === 0 ? [] : [['Exclusions', String(rules.exclusions)] as const]),
  ...(rules.max_runs === null ? [] : [['Run limit', String(rules.max_runs)] as const]),
  ...(rules.pause_on_failures === null
    ? []
    : [['Pauses after', `${rules.pause_on_failures} failures in a row`] as const]),
  ...(rules.adaptive === null ? [] : [['Interval', `from ${rules.adaptive.min} to ${rules.adaptive.max}`] as const]),
]

export const ScheduleDetail = ({ schedule }: { readonly schedule: Schedule }) => (
  <div className="schedule-detail">
    <Part title="Next">
      <Next schedule={schedule} />
      <ClockNote schedule={schedule} />
    </Part>
    <Part title="Recent runs">
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
