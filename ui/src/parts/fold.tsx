/** A section that a button expands and collapses. A collapsed section is not in the DOM. */
import { ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'

export const Fold = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => {
  const [isOpen, setOpen] = useState(false)
  const Sign = isOpen ? ChevronDown : ChevronRight
  return (
    <div className="fold">
      <button type="button" className="link fold-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Sign size={14} aria-hidden />
        {name}
      </button>
      {isOpen && children}
    </div>
  )
}
