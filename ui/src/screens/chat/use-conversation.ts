/**
 * React hook for a conversation: merges the messages saved on the server with the answer that is streaming.
 *
 * Resumes the stream after a reload, and when the server reports a running turn that this tab does not follow yet. Saved messages win
 * over streamed ones.
 */
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { useEffect, useMemo, useRef } from 'react'
import { mountPath, problemOf, sendJson } from '../../api/client.ts'
import type { Chat } from '../../api/documents.ts'
import { identityHeaders } from '../../api/me.ts'

/** A fetch that throws a `Problem` with the server's message on a failed response. */
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
    // An older response of the server must not remove newer messages.
    if (saved.running === null) {
      if (own.length >= shown.current.length) setMessages(own)
      return
    }
    // Resume once per turn: the stream of a turn that waits for a person ends at once, every time.
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
  /** Decides an approval request. The answer continues to stream into the same message. */
  const answer = async (id: string, approved: boolean): Promise<void> => {
    await chat.addToolApprovalResponse({ id, approved, ...(approved ? {} : { reason: 'Discarded in the chat.' }) })
    await chat.sendMessage()
  }
  return { ...chat, send, stop, answer: (id: string, approved: boolean): void => void answer(id, approved) }
}
