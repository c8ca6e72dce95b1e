/** Levels of the log, from nothing to everything; each level includes those before it. */
export const LOG_LEVELS = ['off', 'error', 'warn', 'info', 'debug'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

export const isLogLevel = (text: string): text is LogLevel => (LOG_LEVELS as readonly string[]).includes(text)
