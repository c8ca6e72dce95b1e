/**
 * The model provider of the campaign: real HTTP, the example's own scripts as answers, and a record of every call.
 *
 * Owns that record: the step and the lead of each call, and the life in which it was made. Runs in the process that is never killed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Json } from '#model/kernel/json.ts'
import type { Random } from '#test/support/random.ts'
import { pause } from '#test/support/until.ts'
import { startAnthropicStub } from '#testing/stubs/anthropic-stub.ts'
import type { ModelStub, StubBlock, StubBody } from '#testing/stubs/model-stub.ts'
import type { Moments } from './moments.ts'

export interface PaidCall {
  /** Agent, lead and turn: what must be paid once. */
  readonly key: string
  readonly life: number
  /** The id under which the ledger stores the answer. */
  readonly response: string
}

export interface Provider {
  readonly url: string
  readonly calls: readonly PaidCall[]
  close(): Promise<void>
}

interface Answer {
  readonly turn?: number
  readonly contains?: readonly string[]
  readonly calls?: readonly { readonly tool: string; readonly input: Json }[]
  readonly json?: Json
}

interface Agent {
  readonly name: string
  readonly instructions: string
  readonly answers: readonly Answer[]
}

const MAX_THINKING_MS = 30
const LEAD = /lead-[a-z0-9]+/

const agentsIn = (folder: string): readonly Agent[] =>
  readdirSync(join(folder, 'agents')).map((name) => ({
    name,
    instructions: readFileSync(join(folder, 'agents', name, 'CLAUDE.md'), 'utf8').trim(),
    answers: (parse(readFileSync(join(folder, 'scripts', `${name}.yaml`), 'utf8')) as Pick<Agent, 'answers'>).answers,
  }))

const messagesOf = (body: StubBody): readonly { readonly role: string; readonly content: Json }[] =>
  body['messages'] as unknown as readonly { readonly role: string; readonly content: Json }[]

const turnOf = (body: StubBody): number => messagesOf(body).filter(({ role }) => role === 'assistant').length

const answerOf = ({ answers, name }: Agent, body: StubBody): readonly StubBlock[] => {
  const text = JSON.stringify(messagesOf(body))
  const answer = answers.find(
    ({ turn, contains = [] }) =>
      (turn === undefined || turn === turnOf(body) + 1) && contains.every((word) => text.includes(word)),
  )
  if (answer === undefined) throw new Error(`${name} has no answer`)
  if (answer.json !== undefined) return [{ type: 'text', text: JSON.stringify(answer.json) }]
  return (answer.calls ?? []).map(({ tool, input }) => ({ type: 'call', name: tool, input }))
}

/** `folder` contains the example. */
export const openProvider = async (folder: string, random: Random, moments: Moments): Promise<Provider> => {
  const agents = agentsIn(folder)
  const calls: PaidCall[] = []
  const agentOf = (body: StubBody): Agent => {
    const system = JSON.stringify(body['system'])
    const found = agents.find(({ instructions }) => system.includes(JSON.stringify(instructions).slice(1, -1)))
    if (found === undefined) throw new Error(`no agent has these instructions: ${system}`)
    return found
  }
  const stub: ModelStub = await startAnthropicStub({
    script: (body) => answerOf(agentOf(body), body),
    pace: async ({ body }, n) => {
      const lead = LEAD.exec(JSON.stringify(messagesOf(body)[0]))?.[0]
      calls.push({ key: `${agentOf(body).name} ${lead} ${turnOf(body)}`, life: moments.life, response: `msg_${n}` })
      moments.report('call')
      await pause(random.below(MAX_THINKING_MS))
    },
  })
  return { url: stub.url, calls, close: () => stub.close() }
}
