/** A call whose input changed after its approval is not made. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agent } from '#manifest/define/agents.ts'
import { normalise } from '#manifest/define/define.ts'
import type { AgentSpec } from '#model/agent/agent.ts'
import type { Decided } from '#model/agent/state.ts'
import { runId } from '#model/kernel/ids.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import { taskAnswer } from '#model/task/view.ts'
import { person, submit, taskAfter, world } from '#test/support/stories/task-story.ts'
import { requireConsent } from './consent.ts'
import { decidedOf, questionOf } from './questions.ts'

const OPTIONS = { numRuns: 1_000, seed: 19 }
const SPEC = normalise(
  { name: 'test', agents: [agent('mailer', { asks: { users: ['ana'] } })] },
  (text) => text,
).functions.get('mailer')?.code as AgentSpec
const ids = { digest: world.digest }

/** A person's decision on a call with this input, made through a real task. */
const approved = (input: Json, change: { readonly to: Json } | null): Decided => {
  const call = { key: '0.0', tool: 'SendMail', input }
  const spec = questionOf('approval', SPEC, call, {}, null)
  const opened = { type: 'open_task', now: 0, world, run: runId('0'.repeat(32)), step: 'agent/ask[0.0]', spec } as const
  const asked = taskAfter(opened)
  if (asked.kind !== 'open') throw new Error('the task is open')
  const edit = change === null ? {} : { call: { status: 'edited' as const, modifications: change.to } }
  const verb = change === null ? 'approve' : 'edit'
  const answer = taskAnswer(taskAfter(opened, submit(verb, { by: person('ana'), shownHash: asked.hash, items: edit })))
  if (answer === null) throw new Error('ana may decide')
  return decidedOf('approval', answer)
}

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Json)

test('a call that was approved unchanged is performed unchanged', () => {
  fc.assert(
    fc.property(json, (input) => {
      expect(() => requireConsent(approved(input, null), input, ids)).not.toThrow()
    }),
    OPTIONS,
  )
})

test('a call that was edited is performed as edited, not as the agent asked', () => {
  fc.assert(
    fc.property(json, json, (input, to) => {
      fc.pre(canonical(input) !== canonical(to))
      const decided = approved(input, { to })
      expect(() => requireConsent(decided, to, ids)).not.toThrow()
      expect(() => requireConsent(decided, input, ids)).toThrow('CONSENT_MISMATCH')
    }),
    OPTIONS,
  )
})

test('a changed byte is refused', () => {
  const flipped = fc.tuple(json, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([input, at, by]) => {
    const bytes = Buffer.from(JSON.stringify(input))
    const position = at % bytes.length
    bytes[position] = (bytes[position] ?? 0) ^ by
    return { input, text: bytes.toString('utf8') }
  })
  fc.assert(
    fc.property(flipped, ({ input, text }) => {
      const changed = ((): Json => {
        try {
          return JSON.parse(text) as Json
        } catch {
          return text
        }
      })()
      fc.pre(canonical(changed) !== canonical(input))
      expect(() => requireConsent(approved(input, null), changed, ids)).toThrow('CONSENT_MISMATCH')
    }),
    OPTIONS,
  )
})
