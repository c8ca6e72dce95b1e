/** The SVG export of the graph. */
import { expect, test } from 'vitest'
import type { GraphNode, ManifestGraph } from '../../api/documents.ts'
import { placesOf } from './layout.ts'
import { svgOf } from './svg.ts'

const node = (kind: GraphNode['kind'], name: string): GraphNode => ({
  ...{ id: `${kind}:${name}`, kind, name, modality: null, counts: null, findings: [], isolation: null },
})

const graph: ManifestGraph = {
  ...{ name: 'a <shop>', hash: 'h', findings: [], mermaid: '' },
  nodes: [node('event', 'order.paid'), node('human', 'review "it"'), node('agent', 'writer')],
  edges: [
    { from: 'event:order.paid', to: 'human:review "it"', kind: 'hears', label: '' },
    { from: 'human:review "it"', to: 'agent:writer', kind: 'moves', label: '' },
  ],
}

test('every node has its shape and its name, every edge a line; nothing in a name is read as markup', () => {
  const text = svgOf(graph, placesOf(graph))
  expect(text.match(/<(rect|polygon) /g)).toEqual(['<rect ', '<polygon ', '<rect '])
  expect(text.match(/marker-end/g)).toHaveLength(2)
  expect(text.match(/stroke-dasharray/g)).toHaveLength(1)
  expect(text).toContain('<title>a &lt;shop&gt;</title>')
  expect(text).toContain('review &quot;it&quot;</text>')
  expect(text).not.toMatch(/NaN|undefined/)
})
