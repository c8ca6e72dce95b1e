/** Modules as authors write them. */
import { describe, expect, test } from 'vitest'
import { defineModules, moduleOf } from './modules.ts'

const refusal = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  return 'nothing was refused'
}

describe('modules as authors write them', () => {
  const modules = defineModules([
    { name: 'post', functions: ['letter'], allow: { hosts: ['mail.example.org'], tables: { write: ['mail'] } } },
    { name: 'bank' },
  ])

  test('[N9] absent lists are empty, and a function belongs to the module that lists it or that it names', () => {
    expect(modules.byName.get('post')?.allow).toEqual({
      operations: [],
      hosts: ['mail.example.org'],
      tables: { read: [], write: ['mail'] },
      events: [],
      secrets: [],
      modules: [],
    })
    expect(moduleOf(modules, 'f', 'letter', undefined)?.name).toBe('post')
    expect(moduleOf(modules, 'f', 'pay', 'bank')?.name).toBe('bank')
    expect(moduleOf(modules, 'f', 'free', undefined)).toBeNull()
  })

  test.each([
    [
      'a module nobody declared',
      () => moduleOf(modules, 'functions.f', 'f', 'bnak'),
      'functions.f.module: there is no module bnak',
    ],
    ['a function in two modules', () => moduleOf(modules, 'functions.letter', 'letter', 'bank'), 'is listed by post'],
    [
      'a function listed twice',
      () =>
        defineModules([
          { name: 'a', functions: ['f'] },
          { name: 'b', functions: ['f'] },
        ]),
      'f is already in module a',
    ],
    ['two modules of one name', () => defineModules([{ name: 'a' }, { name: 'a' }]), 'MANIFEST_DUPLICATE_NAME'],
    ['a bad name', () => defineModules([{ name: 'A' }]), 'MANIFEST_INVALID: modules.A'],
    [
      'an unknown operation',
      () => defineModules([{ name: 'a', allow: { operations: ['mail'] } }]),
      '"mail" is not one of transform',
    ],
  ])('%s is refused', (_, work, expected) => {
    expect(refusal(work)).toContain(expected)
  })
})
