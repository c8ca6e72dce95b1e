/** Encrypted stores against the conformance suites: they behave like stores without encryption. */
import { expect, test } from 'vitest'
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { LOCAL_TENANT, type TenantId } from '#model/kernel/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import { Random } from '#test/support/random.ts'
import { blobsSuite } from '#testing/blobs-suite.ts'
import { type FaultPlan, faultyLedger } from '#testing/faulty-ledger.ts'
import { aCreation, aFact, anAppend, anEvent, newRun, newWorker } from '#testing/ledger/builders.ts'
import { ledgerSuite } from '#testing/ledger-suite.ts'
import { type ReaderUnderTest, readerSuite } from '#testing/reader-suite.ts'
import { resendingLedger } from '#testing/resending-ledger.ts'
import { Cipher } from './cipher.ts'
import { type Key, readKeys } from './keys.ts'
import { Payloads } from './payloads.ts'
import { VaultLedger, vaultBlobs, vaultReader } from './vault.ts'

const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)]

const payloadsOf = (text: string): Payloads => {
  const keys = readKeys('TRIHAND_LEDGER_KEY', text) as [Key, ...Key[]]
  return new Payloads(new Cipher(keys, keys.at(-1) as Key))
}

const openMemory = async (lastSequence = 0, plan: FaultPlan = () => null): Promise<ReaderUnderTest> => {
  const store = new MemoryStore({ lastSequence })
  const open = (): Ledger =>
    new VaultLedger(resendingLedger(faultyLedger(new MemoryLedger(store), plan)), payloadsOf(OLD))
  const ledger = open()
  const reopen = async (): Promise<Ledger> => {
    await ledger.close()
    return open()
  }
  const reader = vaultReader(new MemoryReader(store), payloadsOf(OLD))
  return { ledger, reader, second: async () => open(), reopen, close: () => ledger.close() }
}

const random = new Random(1)
const losesAnswers: FaultPlan = ({ method }) => (method === 'append' && random.chance(0.4) ? 'done_then_fail' : null)

ledgerSuite('vault on memory', () => openMemory(), { reopens: true, shared: true, openAt: openMemory })
readerSuite('vault on memory', () => openMemory())
ledgerSuite('vault on memory, answers lost', () => openMemory(0, losesAnswers), {
  reopens: true,
  shared: true,
  resends: true,
})
blobsSuite('vault on memory', async () => {
  const blobs = new MemoryBlobs()
  return {
    blobs: vaultBlobs(blobs, payloadsOf(OLD)),
    reopen: async () => vaultBlobs(blobs, payloadsOf(OLD)),
    close: async () => {},
  }
})

const hide = (payloads: Payloads, tenant = 'acme', stream = 'run_1', seq = 0) =>
  payloads.hideFact(tenant, stream, seq, { type: 'step.completed', recordedAt: 1, body: '{"a":"secret"}', hash: 'h' })

test('cipher-1: a payload opens only with its key, at its place and unchanged', () => {
  const payloads = payloadsOf(OLD)
  const hidden = hide(payloads)
  expect(hidden.body).not.toContain('secret')
  expect(hide(payloads).body).not.toBe(hidden.body)
  expect(payloads.showFact('acme', 'run_1', 0, hidden).body).toBe('{"a":"secret"}')
  const moved = [
    () => payloads.showFact('other', 'run_1', 0, hidden),
    () => payloads.showFact('acme', 'run_2', 0, hidden),
    () => payloads.showFact('acme', 'run_1', 1, hidden),
    () => payloads.showFact('acme', 'run_1', 0, { ...hidden, body: '{"a":"plain"}' }),
    () => payloads.showFact('acme', 'run_1', 0, { ...hidden, body: `${hidden.body}:mark` }),
    ...[20, 40, hidden.body.length - 1].map((at) => () => {
      const other = hidden.body.charAt(at) === 'A' ? 'B' : 'A'
      const body = hidden.body.slice(0, at) + other + hidden.body.slice(at + 1)
      return payloads.showFact('acme', 'run_1', 0, { ...hidden, body })
    }),
  ]
  for (const [i, open] of moved.entries()) expect(open, `case ${i}`).toThrow('PAYLOAD_BROKEN')
  expect(() => payloadsOf(NEW).showFact('acme', 'run_1', 0, hidden)).toThrow('LEDGER_KEY_WRONG')
})

test('cipher-1: a truncated payload does not open, not even with a shorter tag (13.3.2)', () => {
  const payloads = payloadsOf(OLD)
  const { body, ...rest } = hide(payloads)
  for (let length = 0; length < body.length; length++)
    expect(() => payloads.showFact('acme', 'run_1', 0, { ...rest, body: body.slice(0, length) }), `${length}`).toThrow()
})

test('cipher-1: documents, tasks, events, blobs and reasons do not open at another place (13.3.2)', () => {
  const payloads = payloadsOf(OLD)
  const document = payloads.hideDocument({ tenant: 'acme' as TenantId, table: 't', key: 'a', value: { x: 1 } }).value
  const event = anEvent({ data: { x: 1 } })
  const stored = { ...payloads.hideEvent(event).event, sequence: 1 }
  const reason = payloads.hideSuppression('acme', { trigger: 'a', reason: 'error', detail: 'x' })
  const blob = payloads.hideBlob('a', 'text')
  expect(payloads.showDocument('acme', 't', 'a', document)).toEqual({ x: 1 })
  expect(payloads.showBlob('a', blob)).toBe('text')
  const moved = [
    () => payloads.showDocument('other', 't', 'a', document),
    () => payloads.showDocument('acme', 'u', 'a', document),
    () => payloads.showDocument('acme', 't', 'b', document),
    () => payloads.showEvent({ ...stored, id: 'another' as typeof stored.id }),
    () => payloads.showEvent({ ...stored, type: 'another' }),
    () => payloads.showEvent({ ...stored, tenant: 'other' as TenantId }),
    () => payloads.showSuppression('acme', { ...reason, trigger: 'b' }),
    () => payloads.showBlob('b', blob),
  ]
  for (const [i, open] of moved.entries()) expect(open, `case ${i}`).toThrow('PAYLOAD_BROKEN')
})

test('cipher-2: no nonce is used twice, by one process or by two with the same key (13.3.2)', () => {
  const processes = [payloadsOf(OLD), payloadsOf(OLD)]
  const each = 10_000
  const nonces = processes.flatMap((one) => Array.from({ length: each }, () => hide(one).body.split(':')[2]))
  expect(new Set(nonces).size).toBe(2 * each)
})

test('vault-3: a payload with a newer key that another process used is not broken, and this process stops claiming (13.3.2)', async () => {
  const inner = new MemoryLedger(new MemoryStore())
  const newer = new VaultLedger(inner, payloadsOf(`${NEW},${OLD}`))
  const run = newRun()
  await newer.append([anAppend({ writes: [aCreation(run, {}, { facts: [aFact()] })] })])
  const older = new VaultLedger(inner, payloadsOf(OLD), async () => true)
  await expect(older.load([run])).rejects.toMatchObject({ code: 'LEDGER_KEY_WRONG' })
  await expect(older.claim({} as never)).rejects.toMatchObject({ code: 'LEDGER_KEY_WRONG' })
  // A key that the ledger's record does not name was invented.
  const [found] = await new VaultLedger(inner, payloadsOf(OLD), async () => false).load([run])
  expect(found?.broken).toContain('is encrypted with key')
})

test('the first of several keys encrypts, and all of them decrypt', () => {
  const both = payloadsOf(`${NEW},${OLD}`)
  expect(both.showFact('acme', 'run_1', 0, hide(payloadsOf(OLD))).body).toContain('secret')
  expect(payloadsOf(NEW).showFact('acme', 'run_1', 0, hide(both)).body).toContain('secret')
})

test('payloads-1: tokens of equal values differ by tenant, type and path, and lists differ from objects', () => {
  const payloads = payloadsOf(OLD)
  const value = (text: string, { tenant = 'acme', type = 'order', path = 'a.b' } = {}): string =>
    payloads.hideWait(tenant, { type, path, value: text }).value
  expect(value('"x"')).toBe(value('"x"'))
  const others = [
    value('"y"'),
    value('"x"', { tenant: 'b' }),
    value('"x"', { type: 'c' }),
    value('"x"', { path: 'a.c' }),
  ]
  expect(others).not.toContain(value('"x"'))
  expect(value('[1]')).not.toBe(value('{"0":1}'))
  expect(value('{"a":1,"b":[true]}')).toBe(value('{"b":[true],"a":1}'))
})

test('vault-1, vault-2: another tenant, or another run, never opens a payload that was moved to it', async () => {
  const store = new MemoryStore()
  const inner = new MemoryLedger(store)
  const ledger = new VaultLedger(inner, payloadsOf(OLD))
  const [mine, theirs] = [newRun(), newRun()]
  const other = 'other' as TenantId
  const create = (run: typeof mine, tenant: TenantId) => aCreation(run, { tenant }, { facts: [aFact()] })
  await ledger.append([
    anAppend({ writes: [create(mine, LOCAL_TENANT)] }),
    anAppend({ writes: [create(theirs, other)] }),
  ])
  const [raw, rawOther] = await inner.load([mine, theirs])
  expect(raw?.facts[0]?.body).toMatch(/^enc1:/)
  const swapped = new Proxy(inner, {
    get: (target, name: keyof Ledger) =>
      name === 'load'
        ? async () => [raw && { ...raw, facts: rawOther?.facts ?? [] }, rawOther]
        : target[name].bind(target),
  })
  const [bad, good] = await new VaultLedger(swapped, payloadsOf(OLD)).load([mine, theirs])
  expect(bad?.broken).toContain('cannot be decrypted')
  expect(good?.broken).toBeUndefined()
  expect(good?.facts[0]?.body).toMatch(/^{"n"/)
})

test('vault-1: the store never gets the data of an event in clear', async () => {
  const given: string[] = []
  const inner = new MemoryLedger(new MemoryStore())
  const spy = new Proxy(inner, {
    get: (target, name: keyof Ledger) =>
      name === 'append'
        ? (batch: Parameters<Ledger['append']>[0]) => {
            given.push(JSON.stringify(batch))
            return target.append(batch)
          }
        : target[name].bind(target),
  })
  const event = anEvent({ data: { email: 'marker@example.com', list: [{ marker: 1 }] } })
  const suppressed = [{ trigger: 't', reason: 'error' as const, detail: 'marker' }]
  const ledger = new VaultLedger(spy, payloadsOf(OLD))
  const document = { tenant: LOCAL_TENANT, table: 't', key: 'k', value: { marker: 'marker' } }
  await ledger.append([anAppend({ events: [{ ...event, suppressed }], documents: [document] })])
  expect(given.join()).not.toContain('marker')
  const [found] = await ledger.events({ tenant: LOCAL_TENANT, limit: 1 })
  expect(found?.data).toEqual(event.event.data)
})

test('a claim returns everything that the store returns, including the number of runs that changed their version', async () => {
  const inner = new MemoryLedger(new MemoryStore())
  const store: Ledger = Object.assign(Object.create(inner) as Ledger, {
    claim: async () => ({ claims: [], nextDueAt: 7, moved: 3 }),
  })
  const request = { worker: newWorker(), now: 1, limit: 1 }
  expect(await new VaultLedger(store, payloadsOf(OLD)).claim(request)).toEqual({ claims: [], nextDueAt: 7, moved: 3 })
})
