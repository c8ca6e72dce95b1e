/** Scrolls a table that has more columns than a narrow page has room for; keys reach it too, also where no cell takes the focus. */
import type { ReactNode } from 'react'

export const WideTable = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to take the focus (axe: scrollable-region-focusable)
  <section className="wide-table" aria-label={label} tabIndex={0}>
    {children}
  </section>
)
