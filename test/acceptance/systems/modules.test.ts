/** Modules: the permissions of their functions, enforced where the operation would happen. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const MODULES = [
  {
    name: 'shop',
    functions: ['sell'],
    allow: {
      operations: ['db_write', 'emit_event'],
      tables: { write: ['order'] },
      events: ['order.*'],
      modules: ['post'],
    },
  },
  { name: 'post', functions: ['letter'] },
  { name: 'bank', functions: ['pay'] },
]

type Deed =
  | 'write order'
  | 'write account'
  | 'emit order.sold'
  | 'emit mail.sent'
  | 'tell mail.sent'
  | 'call letter'
  | 'call pay'

onEveryStore('modules', (store) => {
  test('[N9] a function can do what its module allows; anything else fails and names module and capability', async () => {
    const system = await startTestSystem(
      {
        name: 'modules',
        open: true,
        modules: MODULES,
        functions: [
          fn<Deed>('sell', { retry: { maxAttempts: 1 } }, async ({ input, step }) => {
            const [verb, what] = input.split(' ') as [string, string]
            if (verb === 'call') return step.invoke('call', what)
            if (verb === 'tell') return step.emit('tell', { type: what, data: {} })
            return step.run(verb, ({ write, emit }) => {
              if (verb === 'write') write(what, '1', { done: true })
              else emit(what, {})
            })
          }),
          fn('letter', {}, () => 'sent'),
          fn('pay', {}, () => 'paid'),
        ],
      },
      store(),
    )
    const outcome = async (deed: Deed) => {
      const run = await system.start('sell', deed)
      await system.settle()
      const { status, error } = await system.look(run)
      return status === 'success' ? 'done' : (error?.message ?? status)
    }
    expect(await outcome('write order')).toBe('done')
    expect(await outcome('emit order.sold')).toBe('done')
    expect(await outcome('call letter')).toBe('done')
    expect(await outcome('write account')).toContain('module shop may not use write account')
    expect(await outcome('emit mail.sent')).toContain('module shop may not use event mail.sent')
    expect(await outcome('tell mail.sent')).toContain('module shop may not use event mail.sent')
    expect(await outcome('call pay')).toContain('module shop may not use module bank')
    expect(await system.store.reader.document(LOCAL_TENANT, 'account', '1')).toBeNull()
    const events = { tenant: LOCAL_TENANT, type: 'mail.sent', before: null, limit: 9 }
    expect(await system.store.reader.events(events)).toEqual([])
    await system.close()
  })
})
