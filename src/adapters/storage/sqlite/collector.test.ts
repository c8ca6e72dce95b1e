/** Helper threads of the garbage collector are switched off on machines with one or two cores, and nowhere else. */
import { expect, test } from 'vitest'
import { collectAlone } from './collector.ts'

const flagsSet = (cores: number): readonly string[] => {
  const flags: string[] = []
  collectAlone(cores, (flag) => flags.push(flag))
  return flags
}

test('on one and two cores young objects are collected without helpers', () => {
  expect(flagsSet(1)).toEqual(['--no-parallel-scavenge'])
  expect(flagsSet(2)).toEqual(['--no-parallel-scavenge'])
})

test('with more cores the collector keeps its defaults', () => {
  expect(flagsSet(3)).toEqual([])
  expect(flagsSet(64)).toEqual([])
})
