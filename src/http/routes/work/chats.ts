/**
 * Routes for chats: send a message and stream its turn, show the conversation, stop the turn.
 *
 * Owns parsing and responses. The turn handles the message; an answer to a question is an ordinary decision of the caller, bound to what
 * they were shown.
 */
import type { Context } from 'hono'
import { askedBy, identityOf, requireDecider } from '#http/access/identity.ts'
import { SEND_MESSAGE } from '#http/documents/chats.ts'
import { described, nothing, PAGING, record, ref, text, yesNo } from '#http/openapi/schema.ts'
import { body, type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import type { StreamOptions } from '#http/routes/runs/stream.ts'
import { readBody, readOptionalBody } from '#http/server/body.ts'
import { limitOf } from '#http/server/query.ts'
import type { Service } from '#http/server/service.ts'
import { wasRecorded, workOf } from '#http/server/work.ts'
import { followTurn } from '#http/stream/chat-stream.ts'
import type { Streams } from '#http/stream/open-stream.ts'
import { type ChatRequest, chatDefinition, chatDocument, chatRequest, chatSummary } from '#http/wire/chat.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const CODE = 'INPUT_INVALID'
const AT = '/api/chat/{id}'
/** The fact that records that a turn was stopped, and the name it is recorded under (modes/chats.ts). */
const STOPPED = 'run.cancel_requested'
const BY_CHAT = 'chat'
const STREAM = { media: 'text/event-stream', schema: described('the AI SDK’s UI message stream, v1', text) }

const chatOf = (context: Context): string => context.req.param('id') ?? ''

const list: Handle = async ({ chats, system }, context, query) => {
  const heads = await chats.list(limitOf(query))
  return context.json({ items: heads.map(chatSummary), chats: [...system.chats.values()].map(chatDefinition) })
}

const show: Handle = async ({ chats }, context) => context.json(chatDocument(await chats.show(chatOf(context))))

/**
 * True if an earlier attempt of this request has stopped the turn, or if the current turn began after the request: a later turn is not
 * stopped.
 */
const wasStopped = async (service: Service, context: Context): Promise<boolean> => {
  const work = workOf(context)
  if (work === null || !work.isRepeated) return false
  const { turn } = await service.chats.show(chatOf(context))
  const run = await service.reader.run(service.tenant, turn)
  return run !== null && (run.createdAt > work.since || (await wasRecorded(service, context, run, STOPPED, BY_CHAT)))
}

const stop: Handle = async (service, context) => {
  await readOptionalBody(context, { schema: nothing, code: CODE })
  const stopped =
    (await wasStopped(service, context)) ||
    (await service.chats.stop(chatOf(context), identityOf(context)?.id ?? 'local'))
  return context.json({ stopped }, 202)
}

/** Only the task that this chat waits for may be answered through it. */
const approve = async (
  service: Service,
  context: Context,
  request: Extract<ChatRequest, { readonly kind: 'approval' }>,
  streams: Streams,
): Promise<Response> => {
  const by = requireDecider(context)
  const { running } = await service.chats.show(request.chat)
  const view = running === null ? null : await service.chats.view(running)
  if (view === null || view.execution?.task !== request.task)
    throw new TrihandError('NOT_FOUND', `this chat does not wait for ${request.task}`)
  const { approved, reason, hash } = request
  const action = approved ? 'approve' : 'reject'
  await service.tasks.submit(request.task, by, { action, reason: reason ?? (approved ? null : 'no'), shownHash: hash })
  return followTurn(service, view.run, { streams, context }, view)
}

export const chatRoutes = ({ streams }: Pick<StreamOptions, 'streams'>): readonly Operation[] => {
  const send: Handle = async (service, context) => {
    const request = chatRequest(await readBody(context, { schema: SEND_MESSAGE, code: CODE }))
    if (request.kind === 'approval') return approve(service, context, request, streams)
    const { kind: _, ...message } = request
    return followTurn(service, await service.chats.send(message, askedBy(context)), { streams, context }, null)
  }
  const resume: Handle = async (service, context) => {
    const { running } = await service.chats.show(chatOf(context))
    return running === null ? context.body(null, 204) : followTurn(service, running, { streams, context }, null)
  }
  return [
    {
      id: 'listChats',
      method: 'get',
      path: '/api/chat',
      access: 'viewer',
      summary: 'The conversations, newest first, and the chats that there are',
      query: { limit: PAGING.limit },
      answers: { 200: json(ref('ChatList')) },
      handle: list,
    },
    {
      id: 'sendMessage',
      method: 'post',
      path: '/api/chat',
      access: 'operator',
      summary: 'Sends a message, or answers what the last turn asks; answers with the turn as it happens',
      body: body(SEND_MESSAGE),
      answers: { 200: STREAM },
      problems: [
        ...['INPUT_INVALID', 'NOT_FOUND', 'TURN_RUNNING', 'RUN_BACKLOG_FULL', 'HANDLER_PAUSED', 'TASK_CLOSED'],
        ...[
          'TASK_FORBIDDEN',
          'STALE_VIEW',
          'DRAFTS_NEWER',
          'AGENT_CANNOT_DECIDE',
          'SEPARATION_OF_DUTIES',
          'SESSION_STATE_INVALID',
        ],
      ] as NonNullable<Operation['problems']>,
      handle: send,
    },
    {
      id: 'getChat',
      method: 'get',
      path: AT,
      access: 'viewer',
      summary: 'One conversation, with its messages',
      answers: { 200: json(ref('Chat')) },
      handle: show,
    },
    {
      id: 'streamChat',
      method: 'get',
      path: `${AT}/stream`,
      access: 'viewer',
      summary: 'The turn that goes on, from its beginning; nothing if none does',
      answers: { 200: STREAM, 204: null },
      handle: resume,
    },
    {
      id: 'stopChat',
      method: 'post',
      path: `${AT}/stop`,
      access: 'operator',
      summary: 'Stops the turn that goes on',
      body: optionalBody(nothing),
      answers: { 202: json(record({ stopped: yesNo })) },
      problems: ['INPUT_INVALID'],
      handle: stop,
    },
  ]
}
