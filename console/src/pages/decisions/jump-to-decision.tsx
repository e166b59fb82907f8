import { TextInput } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useGoTo } from '../../components/page-link.tsx'

/** A field that opens a decision by its id. */
export function JumpToDecision() {
  const goTo = useGoTo()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const id = String(new FormData(event.currentTarget).get('id') ?? '').trim()
        if (id !== '') goTo({ to: `decisions/${encodeURIComponent(id)}` })
      }}
    >
      <TextInput
        name="id"
        placeholder="dec_…"
        aria-label="Open a decision by its id"
        leftSection={<IconArrowRight size={15} stroke={1.75} />}
        className="mono"
        w={200}
      />
    </form>
  )
}
