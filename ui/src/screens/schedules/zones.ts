/** Formats a time in a time zone. */
export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (tz: string): Intl.DateTimeFormat => {
  const known = formats.get(tz)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: tz,
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  })
  formats.set(tz, format)
  return format
}

export const inZone = (instant: string, tz: string): string => formatOf(tz).format(new Date(instant))
