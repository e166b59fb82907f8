import type { ReactNode } from 'react'
import classes from './dialog-footer.module.css'

/** The buttons of a dialog, at its lower edge; the last is the primary one. */
export function DialogFooter({ children }: { children: ReactNode }) {
  return <footer className={classes.footer}>{children}</footer>
}
