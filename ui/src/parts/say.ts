/** A word to the person at the corner of the page: it went well, or it did not and why. */
import { notifications } from '@mantine/notifications'
import { Problem } from '../api/client.ts'

export const say = (color: string, title: string, message: string): void =>
  void notifications.show({ color, title, message, closeButtonProps: { 'aria-label': 'Close' } })

export const complain = (error: Error): void =>
  say('red', error instanceof Problem ? error.code : 'Not done', error.message)
