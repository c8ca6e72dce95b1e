/** Dispatchers that a configuration names. */
import { expect, test } from 'vitest'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { dispatcherOf } from './dispatchers.ts'

test('[N10] choosing restate gives a dispatcher, whatever the name of the system', async () => {
  const open = dispatcherOf({ kind: 'restate', ingress: 'http://127.0.0.1:8080' }, 'My_Shop 2')
  const { dispatcher, endpoint } = await open(new VirtualClock())
  expect([typeof dispatcher.wake, endpoint]).toEqual(['function', null])
})
