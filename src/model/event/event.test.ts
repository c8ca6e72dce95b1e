/** Which texts are event types, and which are ids from outside. */
import { expect, test } from 'vitest'
import { isEventType, isPlainId, isReservedType } from './event.ts'

test.each(['a', 'order.placed', 'shop/order.placed', 'a-b_c.d9', `a${'b'.repeat(127)}`])(
  '%j is an event type',
  (type) => expect(isEventType(type)).toBe(true),
)

test.each(['', 'Order', '1a', 'a..b', '.a', 'a.', 'a b', 'a\n', `a${'b'.repeat(128)}`])('%j is no event type', (type) =>
  expect(isEventType(type)).toBe(false),
)

test.each(['agent.started', 'human.decided', 'workflow.failed', 'approval_bundle.viewed', 'trihand.run.failed'])(
  '%s is reserved',
  (type) => expect(isReservedType(type)).toBe(true),
)

test.each(['agent', 'agents.x', 'my.agent.started', 'humane.x'])('%s is not reserved', (type) =>
  expect(isReservedType(type)).toBe(false),
)

test.each(['a', 'ORDER 7', 'é', 'x'.repeat(255), '🙂'])('%j is an id', (id) => expect(isPlainId(id)).toBe(true))

// Both stores silently replace half of a surrogate pair: two ids would become one.
test.each(['', 'x'.repeat(256), 'a\u0000b', 'a\nb', '\u007f', 'a\ud800', '\udc00', '\ud83d'])('%j is no id', (id) =>
  expect(isPlainId(id)).toBe(false),
)
