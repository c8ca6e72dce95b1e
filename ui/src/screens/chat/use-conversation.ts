/**
 * A conversation that lives on the server: what it has, what is streamed now, and both brought together.
 *
 * Owns when a turn is followed again: after a reload, and when the server says that one goes on which nobody here follows. What the
 * server has saved wins over what was streamed.
 */
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { useEffect, useMemo, useRef } from 'react'
import { mountPath, problemOf, sendJson } from '../../api/client.ts'
import type { Chat } from '../../api/documents.ts'
import { identityHeaders } from '../../api/me.ts'

/** A refusal is shown in the server's words, not as its document. */
const ask: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!response.ok) throw await problemOf(response)
  return response
}

/** The server reads the last message only. */
const transportFor = (name: string | undefined) =>
  new DefaultChatTransport<UIMessage>({
    api: `${mountPath()}/api/chat`,
    headers: identityHeaders,
    fetch: ask,
    prepareSendMessagesRequest: ({ id, messages, trigger }) => ({
      body: { id, messages: messages.slice(-1), trigger, ...(name === undefined ? {} : { chat: name }) },
    }),
  })

export const useConversation = (id: string, saved: Chat | null, name: string | undefined) => {
  const transport = useMemo(() => transportFor(name), [name])
  const initial = (saved?.messages ?? []) as unknown as UIMessage[]
  const chat = useChat({ id, messages: initial, transport, generateId: () => crypto.randomUUID() })
  const { status, messages, setMessages, resumeStream } = chat
  const shown = useRef(messages)
  shown.current = messages
  const followed = useRef<string | null>(null)
  const isIdle = status === 'ready'
  useEffect(() => {
    if (!isIdle || saved === null) return
    const own = saved.messages as unknown as UIMessage[]
    // An older answer of the server must not take away what has come since.
    if (saved.running === null) {
      if (own.length >= shown.current.length) setMessages(own)
      return
    }
    // Once for each turn: one that waits for a person ends its stream at once, every time.
    const last = shown.current.at(-1)
    const told = last?.role === 'assistant' ? (last.metadata as { readonly run_id?: string } | undefined) : undefined
    const isFollowed = followed.current === saved.running || told?.run_id === saved.running
    followed.current = saved.running
    if (isFollowed) return
    setMessages(own)
    void resumeStream()
  }, [isIdle, saved, setMessages, resumeStream])
  const stop = async (): Promise<void> => {
    await sendJson(`/api/chat/${encodeURIComponent(id)}/stop`, {})
  }
  const send = (text: string): void => void chat.sendMessage({ text })
  /** An ordinary decision, bound to what was shown; what follows from it streams on into the same message. */
  const answer = async (id: string, approved: boolean): Promise<void> => {
    await chat.addToolApprovalResponse({ id, approved, ...(approved ? {} : { reason: 'Discarded in the chat.' }) })
    await chat.sendMessage()
  }
  return { ...chat, send, stop, answer: (id: string, approved: boolean): void => void answer(id, approved) }
}
