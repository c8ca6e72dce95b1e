/**
 * [A2] Loading any text ends, and ends with findings that have a code, a place and a hint.
 *
 * Runs as many cases as a test run has time for; the stage `fuzz` of `npm run test:chaos` runs the full number.
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

describe('[A2] a damaged manifest', () => {
  test('loads when it is undamaged', () =>
    expect(survives(BASE).findings.filter(({ level }) => level === 'error')).toEqual([]))

  test('gives findings', () => allSurvive(DAMAGED.whole))
  test('with one damaged part gives findings', () => allSurvive(DAMAGED.part))
  test('of any shape gives findings', () => allSurvive(DAMAGED.shape))
  test('of any text gives findings', () => allSurvive(DAMAGED.text))

  // Mistakes of all layers are reported at once, so later layers see values that earlier ones have refused (15.1.1).
  test('whose plan has refused triggers gives findings', () =>
    expect(
      survives('product: {name: a}\nplans: [{name: 30s, triggers: [{kind: -1}], db_lookups: 30s}]').manifest,
    ).toBeNull())

  test('that still loads is printed as text that loads to the same', () =>
    fc.assert(
      fc.property(mutation, (one) => {
        const { manifest } = loadManifest(mutate(BASE, one))
        if (manifest !== null) expect(loadManifest(printManifest(manifest)).manifest).toEqual(manifest)
      }),
      { numRuns: Math.ceil(CASES / 8) },
    ))
})
