/** The chat: the list of conversations, the messages of one, streamed live, and a message box. */
import { Button, Group, Stack, Text, Textarea, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import type { ChatDefinition, Chat as ChatDocument, ChatList } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { chatQuery, chatsQuery } from '../../api/queries.ts'
import { ErrorBox, Failed, Loading, shownError } from '../../parts/state.tsx'
import { Message } from './message.tsx'
import { useConversation } from './use-conversation.ts'

const POLICIES: Readonly<Record<string, string>> = {
  enqueue: 'Your next message is answered after this.',
  interrupt: 'A new message stops this answer.',
  reject: 'Wait for the answer or stop it before you send more.',
}

const Write = ({ send, isBusy, stop }: { send: (text: string) => void; isBusy: boolean; stop: () => void }) => {
  const [text, setText] = useState('')
  const submit = (): void => {
    if (text.trim() === '') return
    send(text.trim())
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  return (
    <Group align="flex-end" className="write">
      <Textarea
        label="Your message"
        description="Enter sends, Shift+Enter adds a line"
        autosize
        minRows={1}
        maxRows={8}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Button onClick={submit} disabled={text.trim() === ''}>
        Send
      </Button>
      {isBusy && (
        <Button variant="default" onClick={stop}>
          Stop
        </Button>
      )}
    </Group>
  )
}

const Hint = ({ chat }: { readonly chat: ChatDefinition | undefined }) => (
  <Stack gap="xs" p="md" align="flex-start">
    <Text>{chat?.description || 'Type a message to start.'}</Text>
    {(chat?.executors ?? []).map(({ name, description, needs_approval }) => (
      <Text size="sm" key={name}>
        <b>{name}</b> {description}
        {needs_approval ? ' (needs approval)' : ''}
      </Text>
    ))}
  </Stack>
)

interface OpenProps {
  readonly id: string
  readonly saved: ChatDocument | null
  readonly definition: ChatDefinition | undefined
  readonly begun: () => void
}

const Conversation = ({ id, saved, definition, begun }: OpenProps) => {
  const { messages, status, error, send, stop, regenerate, answer } = useConversation(id, saved, definition?.name)
  const mayWrite = useMay('operator')
  const isBusy = status === 'submitted' || status === 'streaming'
  const again = isBusy ? null : () => void regenerate()
  return (
    <section className="conversation" aria-label="Conversation">
      <ol className="messages" aria-live="polite" aria-busy={isBusy}>
        {messages.map((message, i) => (
          <Message
            key={message.id}
            message={message}
            again={i === messages.length - 1 ? again : null}
            answer={answer}
          />
        ))}
      </ol>
      {messages.length === 0 && <Hint chat={definition} />}
      {error !== undefined && (
        <ErrorBox {...shownError(error)}>
          <Button size="xs" variant="default" onClick={() => void regenerate()}>
            Try again
          </Button>
        </ErrorBox>
      )}
      {isBusy && (
        <Text size="sm" role="status">
          An answer is being written. {POLICIES[definition?.on_message_while_running ?? ''] ?? ''}
        </Text>
      )}
      {mayWrite && (
        <Write
          send={(text) => {
            begun()
            send(text)
          }}
          isBusy={isBusy}
          stop={() => void stop()}
        />
      )}
    </section>
  )
}

/** A new conversation is not on the server before its first message. */
const Opened = ({ id, list }: { readonly id: string; readonly list: ChatList }) => {
  const isKnown = list.items.some((item) => item.id === id)
  const [isBegunHere] = useState(!isKnown)
  const navigate = useNavigate()
  const { data, error, isPending, refetch } = useQuery({ ...chatQuery(id), enabled: isKnown })
  if (isPending && !isBegunHere) return <Loading />
  if (error !== null) return <Failed error={error} again={() => void refetch()} />
  const definition = list.chats.find(({ name }) => name === data?.name) ?? list.chats[0]
  // Put the id into the URL, so that a reload opens this conversation.
  const begun = (): void => void navigate({ to: '/chat', search: { id }, replace: true })
  return <Conversation id={id} saved={data ?? null} definition={definition} begun={begun} />
}

const NONE = `chats:
  - name: assistant
    agent: assistant
    executors: [my-function]`

const Chats = ({ list, id }: { readonly list: ChatList; readonly id: string | undefined }) => {
  const [fresh, setFresh] = useState(() => crypto.randomUUID())
  if (list.chats.length === 0)
    return (
      <Stack p="xl" align="flex-start">
        <Text>No chats yet. Add one to the manifest:</Text>
        <pre className="data">{NONE}</pre>
      </Stack>
    )
  const shown = id ?? fresh
  return (
    <div className="chat">
      <nav aria-label="Conversations">
        <Link to="/chat" search={{}} activeOptions={{ exact: true }} onClick={() => setFresh(crypto.randomUUID())}>
          New conversation
        </Link>
        <ul>
          {list.items.map((item) => (
            <li key={item.id}>
              <Link to="/chat" search={{ id: item.id }} aria-current={item.id === shown ? 'page' : undefined}>
                {item.title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Opened key={shown} id={shown} list={list} />
    </div>
  )
}

export const Chat = () => {
  const { id } = useSearch({ strict: false }) as { readonly id?: string }
  const { data, error, refetch } = useQuery(chatsQuery)
  return (
    <>
      <Title order={1} p="md" pb={0}>
        Chat
      </Title>
      {error !== null && <Failed error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && <Chats list={data} id={id} />}
    </>
  )
}
