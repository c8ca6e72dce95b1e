/**
 * Computes the position of each graph node: left to right in order of cause and effect. Long graphs wrap into several bands, like lines
 * of text.
 *
 * Defines the size of a node; the style sheet must match it.
 */
import dagre from '@dagrejs/dagre'
import type { GraphNode, ManifestGraph } from '../../api/documents.ts'

export interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly band: number
  /** Height of the free lane above its band, for lines from other bands. */
  readonly lane: number
}

const LETTER = 7.3
const NARROWEST = 96
const WIDEST = 280
/** Width of icon, padding and badge. A hexagon needs more for its tips. */
const PADDING: Readonly<Record<string, number>> = { event: 62, human: 96 }
const BAND_GAP = 56
/** Approximate aspect ratio of the screen area. */
const WANTED_RATIO = 1.7
const MOST_BANDS = 6

const sizeOf = ({ kind, name }: GraphNode): { width: number; height: number } => ({
  width: Math.round(Math.min(WIDEST, Math.max(NARROWEST, name.length * LETTER + (PADDING[kind] ?? 78)))),
  height: kind === 'event' ? 36 : 62,
})

const inOneLine = ({
  nodes,
  edges,
}: ManifestGraph): readonly (Omit<Place, 'band' | 'lane'> & { readonly id: string })[] => {
  const drawing = new dagre.graphlib.Graph({ multigraph: true })
  drawing.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 46 })
  drawing.setDefaultEdgeLabel(() => ({}))
  for (const node of nodes) drawing.setNode(node.id, sizeOf(node))
  for (const [i, { from, to }] of edges.entries()) drawing.setEdge(from, to, {}, String(i))
  dagre.layout(drawing)
  return nodes.map((node) => {
    const { x, y } = drawing.node(node.id) as { x: number; y: number }
    const { width, height } = sizeOf(node)
    return { id: node.id, x: x - width / 2, y: y - height / 2, width, height }
  })
}

type Line = ReturnType<typeof inOneLine>

/** Groups nodes into columns, from left to right. */
const columnsOf = (line: Line): readonly Line[] => {
  const columns = new Map<number, Line[number][]>()
  for (const place of line) {
    const middle = Math.round(place.x + place.width / 2)
    columns.set(middle, [...(columns.get(middle) ?? []), place])
  }
  return [...columns].sort(([a], [b]) => a - b).map(([, places]) => places)
}

const extent = (places: Line) => ({
  left: Math.min(...places.map(({ x }) => x)),
  right: Math.max(...places.map(({ x, width }) => x + width)),
  top: Math.min(...places.map(({ y }) => y)),
  bottom: Math.max(...places.map(({ y, height }) => y + height)),
})

/** Splits the columns into bands of about the same width. */
const cut = (columns: readonly Line[], bands: number): readonly Line[] => {
  const { left, right } = extent(columns.flat())
  const wanted = (right - left) / bands
  const parts: Line[number][][] = []
  for (const column of columns) {
    const { left: at, right: end } = extent(column)
    const band = Math.min(bands - 1, Math.floor(((at + end) / 2 - left) / wanted))
    parts[band] = [...(parts[band] ?? []), ...column]
  }
  return parts.filter((part) => part !== undefined)
}

const sizeOfBands = (bands: readonly Line[]): { width: number; height: number } => {
  const sizes = bands.map(extent)
  return {
    width: Math.max(...sizes.map(({ left, right }) => right - left)),
    height: sizes.reduce((sum, { top, bottom }) => sum + bottom - top + BAND_GAP, -BAND_GAP),
  }
}

/** Chooses the number of bands that allows the largest scale. */
const banded = (line: Line): readonly Line[] => {
  const columns = columnsOf(line)
  const choices = Array.from({ length: MOST_BANDS }, (_, i) => cut(columns, i + 1))
  const scale = (bands: readonly Line[]): number => {
    const { width, height } = sizeOfBands(bands)
    return Math.min(WANTED_RATIO / width, 1 / height)
  }
  return choices.reduce((best, next) => (scale(next) > scale(best) * 1.1 ? next : best))
}

export const placesOf = (graph: ManifestGraph): ReadonlyMap<string, Place> => {
  const places = new Map<string, Place>()
  if (graph.nodes.length === 0) return places
  let down = 0
  for (const [band, line] of banded(inOneLine(graph)).entries()) {
    const { left, top, bottom } = extent(line)
    for (const { id, ...place } of line)
      places.set(id, { ...place, x: place.x - left, y: place.y - top + down, band, lane: down - BAND_GAP / 2 })
    down += bottom - top + BAND_GAP
  }
  return places
}
