/** A `ref` that focuses a field as soon as it is mounted, so that no typed letter is lost. */
export const focusAtOnce = (field: HTMLElement | null): void => field?.focus({ preventScroll: true })
