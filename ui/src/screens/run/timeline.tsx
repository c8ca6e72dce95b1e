/** The bars of a run: who did what when, with waiting drawn apart from work by pattern and word. */
import { Text } from '@mantine/core'
import { Bot, Cog, CornerDownRight, type LucideIcon, Moon, User, Zap } from 'lucide-react'
import { useMemo } from 'react'
import type { Fact } from '../../api/documents.ts'
import { span } from '../../parts/when.tsx'
import { axisOf, type Bar, type BarKind, barsOf, placeOn, type Stretch } from './bars.ts'

const WORDS = {
  work: 'work',
  sleep: 'asleep',
  event: 'waits for an event',
  child: 'child run',
  human: 'waits for a person',
  retry: 'backing off',
  doubt: 'in doubt',
} as const

const HANDS = { agent: Bot, human: User, workflow: Cog } as const
const SIGNS: Readonly<Partial<Record<BarKind, LucideIcon>>> = { sleep: Moon, event: Zap, child: CornerDownRight }

const percent = (share: number): string => `${(share * 100).toFixed(3)}%`

const Line = ({
  bar,
  axis,
  now,
  chosen,
  choose,
}: {
  readonly bar: Bar
  readonly axis: readonly Stretch[]
  readonly now: number
  readonly chosen: boolean
  readonly choose: (step: string) => void
}) => {
  const from = placeOn(axis, bar.from)
  const to = placeOn(axis, bar.to ?? now)
  const length = (bar.to ?? now) - bar.from
  const Sign = SIGNS[bar.kind] ?? HANDS[bar.hand]
  const said = `${bar.step}: ${WORDS[bar.kind]}, ${bar.outcome}, ${span(length)}${bar.attempts > 1 ? `, ${bar.attempts} attempts` : ''}`
  return (
    <button
      type="button"
      className="line"
      data-row
      data-chosen={chosen}
      onClick={() => choose(bar.step)}
      aria-label={said}
    >
      <span className="name" title={bar.step} data-hand={bar.hand}>
        <Sign size={15} aria-hidden />
        {bar.step}
      </span>
      <span className="track">
        <span
          className="bar"
          data-kind={bar.kind}
          data-hand={bar.hand}
          data-outcome={bar.outcome}
          style={{ left: percent(from), width: `max(3px, ${percent(to - from)})` }}
        />
      </span>
      <span className="length">{bar.outcome === 'open' ? WORDS[bar.kind] : span(length)}</span>
    </button>
  )
}

export const Timeline = ({
  facts,
  isOver,
  chosen,
  choose,
}: {
  readonly facts: readonly Fact[]
  readonly isOver: boolean
  readonly chosen: string | null
  readonly choose: (step: string) => void
}) => {
  const now = Date.now()
  const bars = useMemo(() => barsOf(facts), [facts])
  const axis = axisOf(
    facts.map(({ at }) => Date.parse(at)),
    isOver ? null : now,
  )
  const gaps = axis.filter(({ isIdle }) => isIdle)
  if (bars.length === 0) return <Text className="quiet">No step yet.</Text>
  return (
    <section className="timeline" aria-label="Timeline">
      {gaps.length > 0 && (
        <div className="line axis" aria-hidden>
          <span className="name" />
          <span className="track">
            {gaps.map((gap) => (
              <span
                key={gap.from}
                className="gap"
                style={{ left: percent(gap.start), width: percent(gap.end - gap.start) }}
              >
                {span(gap.to - gap.from)}
              </span>
            ))}
          </span>
          <span className="length" />
        </div>
      )}
      {bars.map((bar) => (
        <Line key={bar.step} bar={bar} axis={axis} now={now} chosen={bar.step === chosen} choose={choose} />
      ))}
    </section>
  )
}
