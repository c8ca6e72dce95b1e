/**
 * A graph as Mermaid text.
 *
 * Owns shapes and escaping: labels are quoted, and what could end a quote or begin a directive is written as an entity.
 */
import type { Graph, GraphEdge, GraphNode, NodeKind } from './graph.ts'

const SHAPES: Readonly<Record<NodeKind, readonly [open: string, close: string]>> = {
  event: ['(["', '"])'],
  agent: ['{{"', '"}}'],
  function: ['["', '"]'],
  human: ['[/"', '"/]'],
  plan: ['[["', '"]]'],
  schedule: ['(("', '"))'],
  webhook: ['>"', '"]'],
  state: ['("', '")'],
}
const MAX_LABEL = 80

const escaped = (text: string): string => {
  const short = text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL)}…` : text
  return short
    .replace(/[^A-Za-z0-9 .,:_/=+*()[\]<>!?&|'→…-]/gu, (sign) => `#${sign.codePointAt(0)};`)
    .replace(/[<>&]/g, (sign) => `#${sign.codePointAt(0)};`)
}

const ISOLATION = { process: ' (isolated)', none: ' (not isolated)' } as const

const nodeLine = ({ kind, name, findings, isolation }: GraphNode, id: string): string => {
  const [open, close] = SHAPES[kind]
  const note = isolation === null ? '' : ISOLATION[isolation]
  return `  ${id}${open}${escaped(name)}${note}${findings.length === 0 ? '' : ' #9888;'}${close}:::${kind}`
}

const edgeLine = ({ label, kind }: GraphEdge, from: string, to: string): string => {
  const arrow = kind === 'moves' ? '-.->' : '-->'
  return `  ${from} ${arrow}${label === '' ? '' : `|"${escaped(label)}"|`} ${to}`
}

export const mermaidOf = ({ nodes, edges }: Graph): string => {
  const ids = new Map(nodes.map(({ id }, i) => [id, `n${i}`]))
  const idOf = (id: string): string => ids.get(id) ?? 'n0'
  return [
    'flowchart LR',
    ...nodes.map((node) => nodeLine(node, idOf(node.id))),
    ...edges.map((edge) => edgeLine(edge, idOf(edge.from), idOf(edge.to))),
    '  classDef event fill:#eef,stroke:#669',
    '  classDef agent fill:#efe,stroke:#696',
    '  classDef human fill:#fee,stroke:#966',
    '',
  ].join('\n')
}
