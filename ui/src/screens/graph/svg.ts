/** Exports the graph as an SVG file with the same positions as on the page. Needs no style sheet or font. Pure. */
import type { GraphNode, ManifestGraph } from '../../api/documents.ts'
import type { Place } from './layout.ts'

const MARGIN = 24
const TIP = 16
const COLOURS: Readonly<Record<string, string>> = {
  agent: '#6b3fa0',
  human: '#9a4a00',
  function: '#0b6470',
  plan: '#0b6470',
}
const PLAIN = '#545c66'

const ENTITIES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' }

const escaped = (text: string): string => text.replaceAll(/[<>&"]/g, (sign) => ENTITIES[sign] ?? '')

const outline = (kind: string, { x, y, width, height }: Place): string => {
  if (kind === 'human') {
    const [right, bottom, middle] = [x + width, y + height, y + height / 2]
    const points = [
      [x, middle],
      [x + TIP, y],
      [right - TIP, y],
      [right, middle],
      [right - TIP, bottom],
      [x + TIP, bottom],
    ]
    return `<polygon points="${points.map((point) => point.join(',')).join(' ')}"`
  }
  const radius = kind === 'event' ? height / 2 : kind === 'agent' ? 14 : 2
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}"`
}

const nodeText = ({ kind, name }: GraphNode, place: Place): string => {
  const colour = COLOURS[kind] ?? PLAIN
  const [middle, centre] = [place.x + place.width / 2, place.y + place.height / 2]
  const label = `<text x="${middle}" y="${centre + (kind === 'event' ? 4 : -2)}" text-anchor="middle" font-size="13" fill="#1b1e24">${escaped(name)}</text>`
  const word =
    kind === 'event'
      ? ''
      : `<text x="${middle}" y="${centre + 15}" text-anchor="middle" font-size="11" fill="${colour}">${escaped(kind)}</text>`
  return `${outline(kind, place)} fill="#ffffff" stroke="${colour}" stroke-width="1.5"/>${label}${word}`
}

const edgeText = (from: Place, to: Place, isMove: boolean): string => {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2]
  const pull = Math.max(30, Math.abs(x2 - x1) / 2)
  const dashes = isMove ? ' stroke-dasharray="5 4"' : ''
  return `<path d="M${x1},${y1} C${x1 + pull},${y1} ${x2 - pull},${y2} ${x2},${y2}" fill="none" stroke="#8a919c" stroke-width="1.2"${dashes} marker-end="url(#arrow)"/>`
}

const ARROW =
  '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#8a919c"/></marker></defs>'

export const svgOf = ({ name, nodes, edges }: ManifestGraph, places: ReadonlyMap<string, Place>): string => {
  const all = [...places.values()]
  const width = Math.max(0, ...all.map((place) => place.x + place.width)) + 2 * MARGIN
  const height = Math.max(0, ...all.map((place) => place.y + place.height)) + 2 * MARGIN
  const lines = edges.flatMap(({ from, to, kind }) => {
    const [start, end] = [places.get(from), places.get(to)]
    return start === undefined || end === undefined ? [] : [edgeText(start, end, kind === 'moves')]
  })
  const shapes = nodes.flatMap((node) => {
    const place = places.get(node.id)
    return place === undefined ? [] : [nodeText(node, place)]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif">`,
    `<title>${escaped(name)}</title>${ARROW}`,
    ...lines,
    ...shapes,
    '</svg>',
  ].join('\n')
}
