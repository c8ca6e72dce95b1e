/** Schemas of chats on the wire. */
import {
  anything,
  closed,
  described,
  instant,
  list,
  orNull,
  record,
  ref,
  text,
  words,
  yesNo,
} from '#http/openapi/schema.ts'
import { TURN_POLICIES } from '#model/chat/chat.ts'

const head = {
  id: text,
  name: described('the chat of the system that it was begun with', text),
  title: text,
  updated_at: instant,
}

export const chatComponents = {
  ChatDefinition: record({
    name: text,
    description: text,
    agent: text,
    executors: list(record({ name: text, description: text, needs_approval: yesNo })),
    on_message_while_running: words(TURN_POLICIES),
  }),
  ChatSummary: record(head),
  ChatMessage: described(
    'a message as the AI SDK spells it',
    record({ id: text, role: words(['user', 'assistant']), metadata: anything, parts: list(anything) }),
  ),
  Chat: record({
    ...head,
    messages: list(ref('ChatMessage')),
    running: described('the run of the turn that goes on', orNull(text)),
  }),
  ChatList: record({ items: list(ref('ChatSummary')), chats: list(ref('ChatDefinition')) }),
}

export const SEND_MESSAGE = closed(
  {},
  {
    id: described('of the chat', text),
    message: described('a text, or a message with an id and parts', anything),
    messages: described('as useChat sends them; only the last one is read', list(anything)),
    trigger: text,
    messageId: text,
    chat: described('which of the chats of the system; the first if it is left out', text),
  },
)
