/**
 * [A2] Whatever a text is, loading it ends, and ends with findings that have a code, a place and a way out.
 *
 * As many as a test run has time for; the stage `fuzz` of `npm run test:chaos` plays the full number.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BASE, DAMAGED, mutate, mutation, survives } from '#test/support/manifest/damaged-manifests.ts'
import { loadManifest } from './load.ts'
import { printManifest } from './print.ts'

const CASES = 150

const allSurvive = (texts: fc.Arbitrary<string>): void =>
  fc.assert(
    fc.property(texts, (text) => {
      survives(text)
    }),
    { numRuns: CASES },
  )

describe('[A2] a manifest that was damaged', () => {
  test('the whole one loads', () =>
    expect(survives(BASE).findings.filter(({ level }) => level === 'error')).toEqual([]))

  test('ends with findings', () => allSurvive(DAMAGED.whole))
  test('in a part ends with findings', () => allSurvive(DAMAGED.part))
  test('of any shape ends with findings', () => allSurvive(DAMAGED.shape))
  test('any text ends with findings', () => allSurvive(DAMAGED.text))

  // Mistakes of all layers are told at once, so that later ones meet what earlier ones have refused (15.1.1).
  test('a plan whose triggers were refused ends with findings', () =>
    expect(
      survives('product: {name: a}\nplans: [{name: 30s, triggers: [{kind: -1}], db_lookups: 30s}]').manifest,
    ).toBeNull())

  test('what loads is printed as what loads to the same', () =>
    fc.assert(
      fc.property(mutation, (one) => {
        const { manifest } = loadManifest(mutate(BASE, one))
        if (manifest !== null) expect(loadManifest(printManifest(manifest)).manifest).toEqual(manifest)
      }),
      { numRuns: Math.ceil(CASES / 8) },
    ))
})
