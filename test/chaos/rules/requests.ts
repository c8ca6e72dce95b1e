/** Requests with a key, whose server dies at any moment: the work is done once, and no caller waits forever. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { RequestInProgress, Requests, type Work } from '#engine/services/idempotency-keys.ts'
import type { Json } from '#model/kernel/json.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import { plantMethod } from '#test/chaos/sim/mutants/mutant.ts'
import { CASES, proof } from './proof.ts'

const LEASE_MS = 30_000

/** A store, and processes of one server on it that start and die. */
class Fleet {
  now = 1_000_000
  /** What was created, by the name of the work. */
  readonly made = new Set<string>()
  readonly #documents = new Map<string, Json>()
  readonly #events = new Map<string, number>()
  readonly #processes: Requests[] = []
  #drawn = 0

  at(process: number): Requests {
    this.#processes[process] ??= this.#start()
    return this.#processes[process] as Requests
  }

  crash(process: number): void {
    this.#processes[process] = this.#start()
  }

  #start(): Requests {
    const key = ({ table, key: name }: { readonly table: string; readonly key: string }): string => `${table} ${name}`
    const note = (documents: readonly DocumentWrite[]): void => {
      for (const one of documents) this.#documents.set(key(one), one.value)
    }
    return new Requests({
      send: async ({ id = '' }, { documents = [] }) => {
        const duplicate = this.#events.has(id)
        if (!duplicate) {
          this.#events.set(id, this.now)
          note(documents)
        }
        return { duplicate } as Awaited<ReturnType<ConstructorParameters<typeof Requests>[0]['send']>>
      },
      note: async (documents) => note(documents),
      reader: {
        document: async (_, table, name) => this.#documents.get(key({ table, key: name })) ?? null,
        documents: async () => [],
        eventsWithId: async () => [],
      },
      ids: { digest: (text) => text, uuid: () => `process-${++this.#drawn}` },
      clock: { now: () => this.now },
      isShared: true,
      leaseMs: LEASE_MS,
    })
  }
}

const KEYED = { scope: ['POST', '/api/runs', 'k'], content: 'body', formerContent: 'body' }

const turn = fc.record({
  process: fc.nat(1),
  ends: fc.constantFrom('answers', 'dies_before', 'dies_after', 'gives_back' as const),
  pauseMs: fc.constantFrom(0, 10, LEASE_MS + 1),
})
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never

const answerOf = ({ id }: Work): Json => ({ made: id })

/** One request; returns the answer that its caller gets, or null. */
const ask = async (fleet: Fleet, { process, ends }: Turn): Promise<Json> => {
  const begun = await fleet.at(process).begin(KEYED)
  if ('answer' in begun) return begun.answer
  const { work } = begun
  if (ends === 'answers' || ends === 'dies_after') fleet.made.add(work.id)
  if (ends === 'dies_before' || ends === 'dies_after') {
    fleet.crash(process)
    return null
  }
  if (ends === 'gives_back') {
    await fleet.at(process).release(work, false)
    return null
  }
  await fleet.at(process).answer(work, answerOf(work))
  return answerOf(work)
}

const live = async (turns: readonly Turn[]): Promise<void> => {
  const fleet = new Fleet()
  let first: Json = null
  for (const one of turns) {
    try {
      const answer = await ask(fleet, one)
      if (first !== null) expect(answer).toEqual(first)
      first ??= answer
    } catch (error) {
      if (!(error instanceof RequestInProgress)) throw error
      expect(first).toBeNull()
    }
    fleet.now += one.pauseMs
  }
  fleet.now += LEASE_MS + 1
  // After any crash, a caller that repeats its request is answered.
  const last = await ask(fleet, { process: 1, ends: 'answers', pauseMs: 0 })
  expect(last).toEqual(first ?? last)
  expect(fleet.made.size).toBe(1)
}

type Named = (this: Requests, ...args: never[]) => Work
type RequireOwner = (this: Requests, known: { readonly owner: string | null }) => void

export const keyedRequests = proof({
  name: 'requests-1, requests-3: a request with a key does its work once, and is answered after any crash (14.6)',
  rules: {},
  prove: () => fc.assert(fc.asyncProperty(fc.array(turn, { maxLength: 8 }), live), CASES),
  mutants: [
    {
      name: 'a keyed request does its work twice after a crash (14.6)',
      plant: () =>
        plantMethod<Named>(
          Requests.prototype,
          'workOf',
          (workOf) =>
            function (...args) {
              const work = workOf.apply(this, args)
              return { ...work, id: `${work.id} ${work.attempt}` }
            },
        ),
    },
    {
      name: 'a keyed request whose server died stays in progress for ever (14.6)',
      plant: () =>
        plantMethod<RequireOwner>(
          Requests.prototype,
          'requireOver',
          (requireOver) =>
            function (known) {
              if (known.owner !== null && known.owner !== Reflect.get(this, 'owner')) throw new RequestInProgress(1)
              requireOver.call(this, known)
            },
        ),
    },
    {
      name: 'the answer to a keyed request is kept in memory only (14.6)',
      plant: () =>
        plantMethod<Requests['answer']>(
          Requests.prototype,
          'answer',
          () =>
            async function (this: Requests, { name }, answer) {
              ;(Reflect.get(this, 'leave') as (name: string, answer: Json) => void).call(this, name, answer)
            },
        ),
    },
  ],
})
