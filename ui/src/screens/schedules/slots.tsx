/** A schedule's last slots as ticks, oldest first: ran, failed, skipped and why. Each differs by shape, and is said in words too. */
import { Text, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ScheduleSlot } from '../../api/documents.ts'
import { slotsQuery } from '../../api/queries.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { inZone } from './zones.ts'

const REASONS: Readonly<Record<string, string>> = {
  coalesced: 'the next run stands for it',
  policy: 'missed, and missed slots are skipped',
  window: 'missed too long ago',
  max: 'too many waited',
  paused: 'the schedule was paused',
  overlap: 'the run before had not ended',
  past: 'its moment had passed',
}

const GOOD = new Set(['success', 'partial'])
const OPEN = new Set(['running', 'queued', 'waiting', 'paused', 'cancelling'])

/** ran, failed, open or skipped: the shape of its tick. */
const shapeOf = ({ outcome }: ScheduleSlot): string => {
  if (outcome === 'skipped') return 'skipped'
  if (OPEN.has(outcome)) return 'open'
  return GOOD.has(outcome) ? 'ran' : 'failed'
}

const told = (slot: ScheduleSlot, tz: string): string => {
  const when = inZone(slot.slot, tz)
  const which = slot.origin === 'backfill' ? ', filled in' : slot.origin === 'now' ? ', asked for' : ''
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

export const Slots = ({ name, tz }: { readonly name: string; readonly tz: string }) => {
  const { data, error, refetch } = useQuery(slotsQuery(name))
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  if (data.items.length === 0) return <Text className="quiet">No slot has come yet.</Text>
  return (
    <>
      <ol className="ticks" aria-label="Last slots">
        {data.items.map((slot) => (
          <Tick key={`${slot.slot} ${slot.run_id}`} slot={slot} tz={tz} />
        ))}
      </ol>
      <p className="quiet tick-legend">
        <span className="slot-tick" data-shape="ran" aria-hidden /> ran{' '}
        <span className="slot-tick" data-shape="failed" aria-hidden /> failed{' '}
        <span className="slot-tick" data-shape="skipped" aria-hidden /> skipped{' '}
        <span className="slot-tick" data-shape="open" aria-hidden /> not over
      </p>
    </>
  )
}
