/**
 * A human as a handler: its trigger becomes a question to people, and their answer the output of its run.
 *
 * Owns what its templates may refer to. What a decision is, and the events it sends, is the task's (model/task/task.ts). Keeps nothing
 * between entries.
 */
import { taskOutput } from '#executors/task-output.ts'
import { declaredRequester, knownRequesters } from '#model/access/requester.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Human, People } from '#model/task/human.ts'
import type { Entry } from '#ports/step-port.ts'

/** The only step of a human. */
const STEP = 'ask'

const eventOf = (event: StoredEvent | null): Json => {
  if (event === null) return null
  const { id, source, type, subject, time, data } = event
  return { id, source, type, subject, time, data }
}

const rootsOf = ({ input, event, run, attempt }: Entry): { readonly [root: string]: Json } => ({
  event: eventOf(event),
  trigger: eventOf(event),
  payload: input,
  inputs: input,
  run: { id: run, attempt },
})

/**
 * Who decided the human of this name, as recorded in the event that its task sent. Fails closed: where that is not known, the people to
 * exclude are not known, and so no question is asked.
 */
const decidersIn = (events: readonly StoredEvent[], name: string): readonly string[] => {
  const told = events.flatMap(({ source, data }) =>
    source === `human:${name}` && isJsonRecord(data) && Array.isArray(data['deciders']) ? [data['deciders']] : [],
  )
  if (told.length === 0)
    throw new TrihandError('SEPARATION_OF_DUTIES', `the event that triggers this does not say who decided ${name}`)
  return told.flat().filter((person) => typeof person === 'string')
}

/** requester-1. There is no directory here: every person is known. */
const peopleOf = ({ input, events, requesters }: Entry): People => ({
  isKnown: () => true,
  requesters: knownRequesters(requesters, declaredRequester(input)),
  decidersOf: (name) => decidersIn(events, name),
})

export const enterHuman = async (entry: Entry, { code }: { readonly code: unknown }): Promise<Json> => {
  const { make } = code as Human
  return taskOutput(await entry.gate.ask(STEP, { spec: make(rootsOf(entry), peopleOf(entry)) }))
}
