/** Shows a toast in the corner of the page: a success, or an error with the sentence first and its code below. */
import { notifications } from '@mantine/notifications'
import { Problem } from '../api/client.ts'

export const say = (color: string, title: string, message: string): void =>
  void notifications.show({ color, title, message, closeButtonProps: { 'aria-label': 'Close' } })

export const complain = (error: Error): void =>
  error instanceof Problem ? say('red', error.message, error.code) : say('red', 'Something went wrong', error.message)
