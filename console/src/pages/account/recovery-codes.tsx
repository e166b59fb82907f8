import { Button, Modal } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconAlertTriangle, IconCheck, IconCopy } from '@tabler/icons-react'
import { DialogFooter } from '../../components/dialog-footer.tsx'
import { Banner } from '../../components/state-badge.tsx'
import classes from './account-page.module.css'

/** The dialog that shows new recovery codes, this one time. */
export function RecoveryCodes({ codes, onClose }: { codes: string[] | undefined; onClose: () => void }) {
  const clipboard = useClipboard({ timeout: Number.POSITIVE_INFINITY })
  const close = () => {
    clipboard.reset()
    onClose()
  }
  return (
    <Modal
      opened={codes !== undefined}
      onClose={close}
      title="Keep your recovery codes"
      // A click beside the dialog or Escape would lose the codes.
      closeOnClickOutside={clipboard.copied}
      closeOnEscape={clipboard.copied}
      withCloseButton={false}
    >
      <div className={classes.dialog}>
        <p className="secondary">Each signs you in once, in place of a code of your app, if you lose your phone.</p>
        <ol className={classes.codes} aria-label="Recovery codes">
          {codes?.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        {clipboard.copied ? (
          <Banner tone="ok" icon={<IconCheck size={16} stroke={1.75} />}>
            Copied. Keep them where you keep your other secrets, not on your phone.
          </Banner>
        ) : (
          <Banner tone="warn" icon={<IconAlertTriangle size={16} stroke={1.75} />}>
            They are not shown again. Without them, a lost phone locks you out.
          </Banner>
        )}
      </div>
      <DialogFooter>
        <Button
          variant="default"
          leftSection={<IconCopy size={16} stroke={1.75} />}
          onClick={() => clipboard.copy(codes?.join('\n'))}
        >
          Copy
        </Button>
        <Button onClick={close}>I have kept them</Button>
      </DialogFooter>
    </Modal>
  )
}
