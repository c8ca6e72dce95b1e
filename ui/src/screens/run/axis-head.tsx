/** The head of the timeline: clock ticks, collapsed idle times with their lengths, and a brush for zooming. */
import { type PointerEvent, type Ref, useState } from 'react'
import { span } from '../../parts/when.tsx'
import { placeSeen, type Stretch, seenAt, type View, viewBetween, WHOLE } from './axis.ts'
import { ticksOf } from './ticks.ts'

export const HEAD_HEIGHT = 40
/** A shorter drag counts as a click. */
const SHORTEST_PX = 5

export interface AxisHeadProps {
  readonly axis: readonly Stretch[]
  readonly view: View
  readonly width: number
  readonly see: (view: View) => void
  /** Collapses or expands the idle stretch that starts at this time. */
  readonly toggle: (from: number) => void
  readonly track: Ref<HTMLDivElement>
}

interface Brush {
  readonly from: number
  readonly to: number
}

const pixelOf = ({ currentTarget, clientX }: PointerEvent<HTMLElement>): number =>
  clientX - currentTarget.getBoundingClientRect().left

const Idle = ({ stretch, view, toggle }: { readonly stretch: Stretch } & Pick<AxisHeadProps, 'view' | 'toggle'>) => {
  const { from, to, isFolded } = stretch
  const [left, right] = [Math.max(0, seenAt(view, stretch.start)), Math.min(1, seenAt(view, stretch.end))]
  if (right <= left) return null
  const length = span(to - from)
  return (
    <button
      type="button"
      className="idle"
      aria-expanded={!isFolded}
      aria-label={`${isFolded ? 'Expand' : 'Collapse'} ${length} of idle time`}
      title={`${length} of idle time`}
      style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }}
      onClick={() => toggle(from)}
    >
      <span>{length}</span>
    </button>
  )
}

export const AxisHead = ({ axis, view, width, see, toggle, track }: AxisHeadProps) => {
  const [brush, setBrush] = useState<Brush | null>(null)
  const begin = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.button !== 0 || (event.target instanceof Element && event.target.closest('button') !== null)) return
    event.currentTarget.setPointerCapture(event.pointerId)
    setBrush({ from: pixelOf(event), to: pixelOf(event) })
  }
  const move = (event: PointerEvent<HTMLDivElement>): void => {
    const to = pixelOf(event)
    setBrush((now) => now && { ...now, to })
  }
  const end = (): void => {
    setBrush(null)
    if (brush === null || Math.abs(brush.to - brush.from) < SHORTEST_PX) return
    see(viewBetween(placeSeen(view, brush.from / width), placeSeen(view, brush.to / width)))
  }
  return (
    <div className="axis">
      <span className="quiet">UTC</span>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys [ ] and 0 do the same as the brush */}
      <div
        ref={track}
        className="clock"
        onPointerDown={begin}
        onPointerMove={move}
        onPointerUp={end}
        onPointerCancel={() => setBrush(null)}
        onDoubleClick={() => see(WHOLE)}
      >
        {ticksOf(axis, view, width).map(({ at, share, text }) => (
          <span key={at} className="tick" style={{ left: `${share * 100}%` }}>
            {text}
          </span>
        ))}
        {axis
          .filter(({ isIdle }) => isIdle)
          .map((stretch) => (
            <Idle key={stretch.from} stretch={stretch} view={view} toggle={toggle} />
          ))}
        {brush !== null && (
          <span
            className="brush"
            style={{ left: Math.min(brush.from, brush.to), width: Math.abs(brush.to - brush.from) }}
          />
        )}
      </div>
      <span />
    </div>
  )
}
