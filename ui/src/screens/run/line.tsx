/** One row of the timeline: name and bar. Memoised. */
import { ChevronDown, ChevronRight } from 'lucide-react'
import { memo } from 'react'
import { span } from '../../parts/when.tsx'
import { placeOn, type Stretch, seenAt, type View } from './axis.ts'
import { type Bar, beganAt, endedAt, type Segment } from './bars.ts'
import type { Row } from './rows.ts'
import { crossAt, outlineOf } from './shapes.ts'
import { doingOf, fillOf, MODALITIES, OUTCOMES } from './states.tsx'

export const ROW_HEIGHT = 28
const [BAR_TOP, BAR_HEIGHT, MIDDLE] = [7, 14, 14]
const NARROWEST = 3
const CROSS = 7

/** Maps times to pixels. */
export interface Scale {
  readonly axis: readonly Stretch[]
  readonly view: View
  readonly width: number
  readonly now: number
}

const xOf = ({ axis, view, width }: Scale, at: number): number => seenAt(view, placeOn(axis, at)) * width

const PieceShape = ({ piece, bar, scale }: { readonly piece: Segment; readonly bar: Bar; readonly scale: Scale }) => {
  const [left, right] = [xOf(scale, piece.from), xOf(scale, piece.to ?? scale.now)]
  if (right < 0 || left > scale.width) return null
  // Clip far outside of the view.
  const x = Math.max(-20, left)
  const width = Math.max(NARROWEST, Math.min(scale.width + 20, right) - x)
  const isThin = piece.state === 'life'
  const box = { x, width, y: isThin ? MIDDLE - 1.5 : BAR_TOP, height: isThin ? 3 : BAR_HEIGHT }
  const look = { className: 'piece', 'data-state': piece.state, 'data-hand': bar.hand, 'data-outcome': bar.outcome }
  return <path d={outlineOf(piece.state === 'human' ? 'human' : bar.hand, box)} fill={fillOf(piece.state)} {...look} />
}

/** A cross with an outline, visible on any colour. Stays inside the view at the edge. */
const Cross = ({ at, width }: { readonly at: number; readonly width: number }) => {
  if (at < 0 || at > width + 1) return null
  const d = crossAt(Math.min(at, width - CROSS), MIDDLE)
  return (
    <>
      <path className="cross ground" d={d} />
      <path className="cross" d={d} />
    </>
  )
}

const Track = ({ bar, scale }: { readonly bar: Bar; readonly scale: Scale }) => {
  const { axis, view, width, now } = scale
  return (
    <svg className="track" width={width} height={ROW_HEIGHT} aria-hidden="true">
      {axis
        .filter(({ isFolded }) => isFolded)
        .map(({ from, start, end }) => {
          const [left, right] = [seenAt(view, start) * width, seenAt(view, end) * width]
          return <rect key={from} className="fold" x={left} width={right - left} height={ROW_HEIGHT} />
        })}
      {bar.pieces.map((piece) => (
        <PieceShape key={`${piece.state} ${piece.from}`} piece={piece} bar={bar} scale={scale} />
      ))}
      {bar.outcome === 'failed' && bar.pieces.length > 0 && <Cross at={xOf(scale, endedAt(bar, now))} width={width} />}
    </svg>
  )
}

/** Text at the end of a row: the current state, or the duration. */
const lengthOf = (bar: Bar, now: number): string =>
  bar.outcome === 'open' || bar.outcome === 'skipped' ? doingOf(bar) : span(endedAt(bar, now) - beganAt(bar))

/** The row as text for screen readers. */
const saidOf = ({ name, kind, bar }: Row, now: number): string => {
  if (kind === 'loading') return 'loading'
  const failed = bar.outcome === 'failed' && bar.code !== null ? ` ${bar.code}` : ''
  const attempts = bar.attempts > 1 ? `, ${bar.attempts} attempts` : ''
  const took = span(Math.max(0, endedAt(bar, now) - beganAt(bar)))
  return `${name}: ${MODALITIES[bar.hand].word}, ${doingOf(bar)}, ${OUTCOMES[bar.outcome]}${failed}, ${took}${attempts}`
}

export const Name = ({ row }: { readonly row: Row }) => {
  const { icon: Icon, word } = MODALITIES[row.bar.hand]
  const Caret = row.isUnfolded === true ? ChevronDown : ChevronRight
  return (
    <span className="name" title={row.name} data-hand={row.bar.hand} data-level={row.level}>
      <span className="indent" style={{ width: `${(row.level - 1) * 0.9}rem` }} />
      <span className="caret" data-fold={row.isUnfolded === null ? undefined : true}>
        {row.isUnfolded !== null && <Caret size={14} aria-hidden />}
      </span>
      {row.kind !== 'attempt' && row.kind !== 'loading' && <Icon size={15} aria-hidden data-word={word} />}
      <span className="step-name">{row.kind === 'loading' ? 'Loading…' : row.name}</span>
    </span>
  )
}

export interface LineProps {
  readonly row: Row
  readonly top: number
  readonly scale: Scale
  readonly isChosen: boolean
  /** It has the keyboard focus. */
  readonly isCurrent: boolean
}

export const Line = memo(({ row, top, scale, isChosen, isCurrent }: LineProps) => (
  <div
    role="treeitem"
    className="line"
    data-key={row.key}
    data-kind={row.kind}
    tabIndex={isCurrent ? 0 : -1}
    aria-level={row.level}
    aria-posinset={row.position}
    aria-setsize={row.siblings}
    aria-selected={isChosen}
    {...(row.isUnfolded === null ? {} : { 'aria-expanded': row.isUnfolded })}
    aria-label={saidOf(row, scale.now)}
    style={{ transform: `translateY(${top}px)` }}
  >
    <Name row={row} />
    {row.kind === 'loading' ? <span /> : <Track bar={row.bar} scale={scale} />}
    <span className="length">
      {row.kind === 'loading' ? '' : lengthOf(row.bar, scale.now)}
      {row.bar.attempts > 1 && row.kind === 'step' && <span className="tries"> ×{row.bar.attempts}</span>}
    </span>
  </div>
))
