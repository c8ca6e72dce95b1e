/** The highlighted nodes when one node of the graph is chosen. */
import { expect, test } from 'vitest'
import type { GraphEdge } from '../../api/documents.ts'
import { downstream, neighbourhood, upstream } from './lines.ts'

const edge = (from: string, to: string): GraphEdge => ({ from, to, kind: 'sends', label: '' })
const LINE = [edge('a', 'b'), edge('b', 'c'), edge('c', 'd'), edge('x', 'c')]

test('upstream is everything that can lead to a node, and nothing beside it', () => {
  expect([...upstream(LINE, 'c')].sort()).toEqual(['a', 'b', 'x'])
  expect([...upstream(LINE, 'a')]).toEqual([])
})

test('downstream is everything a node can lead to', () => {
  expect([...downstream(LINE, 'b')].sort()).toEqual(['c', 'd'])
  expect([...downstream(LINE, 'd')]).toEqual([])
})

test('a circle ends: the node itself is in its neighbourhood once', () => {
  const circle = [edge('a', 'b'), edge('b', 'a'), edge('b', 'c')]
  expect([...neighbourhood(circle, 'a')].sort()).toEqual(['a', 'b', 'c'])
})

test('the focus may be on one side only', () => {
  expect([...neighbourhood(LINE, 'c', 'up')].sort()).toEqual(['a', 'b', 'c', 'x'])
  expect([...neighbourhood(LINE, 'c', 'down')].sort()).toEqual(['c', 'd'])
})
