/** A scroll container for a wide table. It takes the focus, so that keys can scroll it even if no cell is focusable. */
import type { ReactNode } from 'react'

export const WideTable = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable (axe: scrollable-region-focusable)
  <section className="wide-table" aria-label={label} tabIndex={0}>
    {children}
  </section>
)
