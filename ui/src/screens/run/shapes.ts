/** SVG outline of a bar: round for an agent, a hexagon for a person, square for a function. Pure. */
import type { Modality } from './bars.ts'

const POINT = 6
const ROUND = 7
const SQUARE = 1.5

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const hexagon = ({ x, y, width, height }: Box): string => {
  const point = Math.min(POINT, width / 2)
  const [right, middle, bottom] = [x + width, y + height / 2, y + height]
  return `M${x} ${middle}L${x + point} ${y}H${right - point}L${right} ${middle}L${right - point} ${bottom}H${x + point}Z`
}

const rounded = ({ x, y, width, height }: Box, wanted: number): string => {
  const r = Math.min(wanted, width / 2, height / 2)
  const [w, h] = [width - 2 * r, height - 2 * r]
  const corner = (dx: number, dy: number): string => `a${r} ${r} 0 0 1 ${dx} ${dy}`
  return `M${x + r} ${y}h${w}${corner(r, r)}v${h}${corner(-r, r)}h${-w}${corner(-r, -r)}v${-h}${corner(r, -r)}Z`
}

export const outlineOf = (hand: Modality, box: Box): string => {
  if (hand === 'human') return hexagon(box)
  return rounded(box, hand === 'agent' ? ROUND : SQUARE)
}

/** A cross at the end of a failed bar, so that colour is not the only sign. */
export const crossAt = (x: number, middle: number): string => `M${x - 4} ${middle - 4}l8 8M${x + 4} ${middle - 4}l-8 8`
