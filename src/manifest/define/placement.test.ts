/** Pools and placement as authors write them. */
import { describe, expect, test } from 'vitest'
import { definePlacement, definePools, parseLabels, placeIn } from './placement.ts'

const codeOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  return 'nothing was refused'
}

describe('placement as authors write it', () => {
  test('[N7] a handler names its pool, what it requires and what it prefers', () => {
    const source = {
      pool: 'mail',
      placement: {
        require: { region: ['eu', 'uk'], gpu: 'no' },
        prefer: [{ label: 'disk=fast', weight: 3 }, { label: 'zone=1' }],
        sticky: true,
      },
    }
    expect(definePlacement('functions.f', source, 'post')).toEqual({
      pin: { mode: 'soft', forMs: 600_000 },
      pool: 'mail',
      module: 'post',
      require: { region: ['eu', 'uk'], gpu: ['no'] },
      prefer: [
        { label: 'disk', value: 'fast', weight: 3 },
        { label: 'zone', value: '1', weight: 1 },
      ],
      sticky: true,
    })
  })

  test('[N5] a handler declares how long its runs stay on their version; a time with hard or none is refused (13.2.2)', () => {
    const pinOf = (source: Parameters<typeof definePlacement>[1]) => definePlacement('functions.f', source, null).pin
    expect(pinOf({ pinFor: '1h' })).toEqual({ mode: 'soft', forMs: 3_600_000 })
    expect(pinOf({ pin: 'hard' }).mode).toBe('hard')
    expect(pinOf({ pin: 'none' }).mode).toBe('none')
    expect(codeOf(() => pinOf({ pin: 'hard', pinFor: '1h' }))).toMatch('functions.f.pin_for: needs `pin: soft`')
    expect(codeOf(() => pinOf({ pin: 'firm' as 'hard' }))).toMatch('functions.f.pin: one of soft, hard, none')
  })

  test('a worker has the labels of its pool, including capabilities, and its own labels win', () => {
    const pools = definePools([
      { name: 'mail', labels: { region: 'us', tier: '1' }, capabilities: ['gpu'], modules: ['post'], slots: 4 },
    ])
    expect(placeIn(pools, { pool: 'mail', labels: { region: 'eu' } })).toEqual({
      pool: 'mail',
      labels: { region: 'eu', tier: '1', gpu: 'yes' },
      modules: ['post'],
      slots: 4,
    })
    expect(placeIn(pools, {})).toEqual({ pool: null, labels: {}, modules: null, slots: null })
  })

  test('labels on a command line', () => {
    expect(parseLabels('region=eu,gpu=no')).toEqual({ region: 'eu', gpu: 'no' })
    expect(parseLabels('')).toEqual({})
    expect(parseLabels('a=b=c')).toEqual({ a: 'b=c' })
  })

  test.each([
    [
      'a pool nobody declared',
      () => placeIn(definePools([{ name: 'mail' }]), { pool: 'male' }),
      'CONFIG_INVALID: there is no pool male; the system has mail',
    ],
    ['two pools of one name', () => definePools([{ name: 'a' }, { name: 'a' }]), 'MANIFEST_DUPLICATE_NAME'],
    ['a pool with a bad name', () => definePools([{ name: 'A b' }]), 'MANIFEST_INVALID: pools.A b'],
    ['a pool of minus one', () => definePools([{ name: 'a', min: -1 }]), 'MANIFEST_INVALID: pools.a.min'],
    ['a bound below the least', () => definePools([{ name: 'a', min: 3, max: 2 }]), 'MANIFEST_INVALID: pools.a.max'],
    ['a pool without room', () => definePools([{ name: 'a', slots: 0 }]), 'MANIFEST_INVALID: pools.a.slots'],
    [
      'a label that is no text',
      () => definePools([{ name: 'a', labels: { gpu: true as never } }]),
      'MANIFEST_INVALID: pools.a.labels.gpu',
    ],
    [
      'sticky that is neither true nor false',
      () => definePlacement('functions.f', { placement: { sticky: 'yes' as never } }, null),
      'MANIFEST_INVALID: functions.f.placement.sticky',
    ],
    [
      'a requirement without a value',
      () => definePlacement('f', { placement: { require: { a: [] } } }, null),
      'MANIFEST_INVALID: f.placement.require.a',
    ],
    [
      'a preference that is no label',
      () => definePlacement('f', { placement: { prefer: [{ label: 'eu' }] } }, null),
      'MANIFEST_INVALID: f.placement.prefer',
    ],
    [
      'a preference without weight',
      () => definePlacement('f', { placement: { prefer: [{ label: 'a=b', weight: 0 }] } }, null),
      'MANIFEST_INVALID: f.placement.prefer',
    ],
    ['a word that is no label', () => parseLabels('region'), 'CONFIG_INVALID: "region" is not a label'],
    ['a label without a value', () => parseLabels('region='), 'CONFIG_INVALID'],
  ])('%s is refused', (_, work, expected) => {
    expect(codeOf(work)).toContain(expected)
  })
})
