import { Button, Modal } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconCopy } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { DialogFooter } from './dialog-footer.tsx'
import classes from './reveal.module.css'
import { Banner } from './state-badge.tsx'

type CopyState = 'not yet' | 'copied' | 'refused'

/** Shows a secret once. Until it was copied, closing asks for a second thought: `consequence` says what it costs. */
export function Reveal({
  secret,
  title,
  explanation,
  consequence,
  onClose,
  children,
}: {
  /** Undefined while there is nothing to show. */
  secret: string | undefined
  title: string
  explanation: string
  /** "Closing now means making another key." */
  consequence: string
  onClose: () => void
  children?: ReactNode
}) {
  const { state, copy, reset } = useCopying(secret ?? '')
  const isCopied = state === 'copied'
  const close = () => {
    reset()
    onClose()
  }
  return (
    <Modal
      opened={secret !== undefined}
      onClose={close}
      title={title}
      // A click beside the dialog or Escape would lose the secret.
      closeOnClickOutside={isCopied}
      closeOnEscape={isCopied}
      withCloseButton={false}
    >
      <div className={classes.reveal}>
        <p className="secondary">{explanation}</p>
        <div className={classes.secret}>
          <code data-secret>{secret}</code>
          <Button
            size="xs"
            leftSection={isCopied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            onClick={() => void copy()}
          >
            {isCopied ? 'Copied' : 'Copy'}
          </Button>
        </div>
        {children}
        <CopyBanner state={state} consequence={consequence} />
      </div>
      <DialogFooter>
        {isCopied ? (
          <Button onClick={close}>Done</Button>
        ) : (
          <>
            <Button variant="default" onClick={close}>
              Close anyway
            </Button>
            <Button
              leftSection={<IconCopy size={16} stroke={1.75} />}
              onClick={async () => {
                if (await copy()) close()
              }}
            >
              Copy and close
            </Button>
          </>
        )}
      </DialogFooter>
    </Modal>
  )
}

function CopyBanner({ state, consequence }: { state: CopyState; consequence: string }) {
  if (state === 'copied')
    return (
      <Banner tone="ok" icon={<IconCheck size={16} stroke={1.75} />}>
        Copied. Keep it where you keep your other secrets.
      </Banner>
    )
  return (
    <Banner tone={state === 'refused' ? 'bad' : 'warn'} icon={<IconAlertTriangle size={16} stroke={1.75} />}>
      {state === 'refused' ? 'Could not copy: select it by hand.' : 'Not copied yet.'} {consequence}
    </Banner>
  )
}

/** Copies a text, and says whether that worked: browsers offer no clipboard to a page over plain http, and may refuse. */
function useCopying(text: string) {
  const [state, setState] = useState<CopyState>('not yet')
  const copy = async (): Promise<boolean> => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
      return true
    } catch {
      setState('refused')
      return false
    }
  }
  return { state, copy, reset: () => setState('not yet') }
}
