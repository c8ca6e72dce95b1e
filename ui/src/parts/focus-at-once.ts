/** A `ref` for the field that a person who opened something types into: it has the focus as soon as it is seen, so no letter is lost. */
export const focusAtOnce = (field: HTMLElement | null): void => field?.focus({ preventScroll: true })
