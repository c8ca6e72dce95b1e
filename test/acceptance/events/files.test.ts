/** Files as a trigger: changes while the system runs, while it is down, and around a crash. */
import { appendFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { FileTrigger } from '#model/event/watch.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { openDoors } from '#test/support/doors.ts'
import { temporaryFolder } from '#test/support/places.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { until } from '#test/support/until.ts'
import { startTestSystem, type TestStore } from '#testing/system.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder('files')
})
afterEach(() => folder.remove())

const write = (name: string, text: string): void => {
  mkdirSync(join(folder.path, 'in'), { recursive: true })
  writeFileSync(join(folder.path, name), text)
}

const open = async (place: TestStore, trigger: FileTrigger) => {
  const source = { name: 'watch', functions: [fn('hear', { trigger }, ({ input }) => input)] }
  const system = await startTestSystem(source, place)
  let doors = openDoors(system, place)
  const start = () => system.run(() => doors.host.follow(system.engine.definition))
  const stop = () => system.run(() => doors.host.stop())
  const events = async () => {
    await system.settle()
    const query = { tenant: LOCAL_TENANT, type: 'trihand.file.changed', before: null, limit: 50 }
    const found = await system.store.reader.events(query)
    return [...found]
      .reverse()
      .map(({ data }) => data as { readonly path: string; readonly change: string })
      .map(({ path, change }) => `${change} ${path.slice(folder.path.length + 1)}`)
  }
  return {
    system,
    start,
    stop,
    events,
    /** Real files take real time: polls until this many were reported. */
    told: (count: number) => until(events, (list) => list.length >= count, { what: `${count} changes are told` }),
    reopen: () => {
      doors = openDoors(system, place)
    },
    /** Its watchers end with it; their later notifications are never answered. */
    crash: async (meanwhile: () => void) => {
      const old = doors
      await system.crash()
      void old.host.stop()
      meanwhile()
      doors = openDoors(system, place)
      await start()
    },
    close: async () => {
      await stop()
      await system.close()
    },
  }
}

onEveryStore('files', (store) => {
  test('[L5] a file in a watched folder is added, changed and removed; other files are ignored', async () => {
    write('in/old.csv', 'was there before')
    const shop = await open(store(), { file: join(folder.path, 'in/**/*.csv'), settle: '40ms' })
    await shop.start()
    write('in/a.csv', '1')
    expect(await shop.told(1)).toEqual(['added in/a.csv'])
    write('in/a.txt', 'not meant')
    write('in/a.csv', '1,2')
    expect(await shop.told(2)).toEqual(['added in/a.csv', 'changed in/a.csv'])
    rmSync(join(folder.path, 'in/a.csv'))
    expect(await shop.told(3)).toEqual(['added in/a.csv', 'changed in/a.csv', 'removed in/a.csv'])
    expect((await shop.system.store.reader.counts(LOCAL_TENANT)).get('success')).toBe(3)
    await shop.close()
  })

  test('[L5] file-1: what was added, changed and removed while the system was down is reported once at the next start', async () => {
    for (const name of ['same', 'changed', 'removed', 'touched']) write(`in/${name}.csv`, name)
    const shop = await open(store(), { file: join(folder.path, 'in/*.csv') })
    await shop.start()
    await shop.stop()
    write('in/added.csv', 'new')
    appendFileSync(join(folder.path, 'in/changed.csv'), ' more')
    rmSync(join(folder.path, 'in/removed.csv'))
    utimesSync(join(folder.path, 'in/touched.csv'), 1_000, 1_000)
    await shop.start()
    expect([...(await shop.events())].sort()).toEqual([
      'added in/added.csv',
      'changed in/changed.csv',
      'removed in/removed.csv',
    ])
    await shop.stop()
    shop.reopen()
    await shop.start()
    expect(await shop.events()).toHaveLength(3)
    await shop.close()
  })

  test('[L5] file-1: a process that is killed after it reported a change does not report it again, and misses none', async () => {
    const shop = await open(store(), { file: join(folder.path, 'in/*.csv'), settle: '40ms' })
    write('in/a.csv', '1')
    await shop.start()
    write('in/a.csv', '1,2')
    await shop.told(1)
    await shop.crash(() => write('in/b.csv', 'while it was dead'))
    expect(await shop.events()).toEqual(['changed in/a.csv', 'added in/b.csv'])
    await shop.close()
  })

  test('[L8] a modified configuration file starts a function, and only for the changes that it asks for', async () => {
    write('in/config.yaml', 'a: 1')
    const shop = await open(store(), { file: join(folder.path, 'in/config.yaml'), on: 'changed', settle: '40ms' })
    await shop.start()
    write('in/config.yaml', 'a: 2')
    expect(await shop.told(1)).toEqual(['changed in/config.yaml'])
    rmSync(join(folder.path, 'in/config.yaml'))
    await shop.stop()
    await shop.start()
    expect(await shop.events()).toHaveLength(1)
    await shop.close()
  })
})
