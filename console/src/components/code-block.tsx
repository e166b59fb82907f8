import { ActionIcon, SegmentedControl, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import classes from './code-block.module.css'

/** Text in monospace with a button that copies it; keywords, strings and comments are coloured. */
export function CodeBlock({ code, plain = false }: { code: string; plain?: boolean }) {
  return (
    <div className={classes.block}>
      <pre className={classes.code}>{plain ? code : coloured(code)}</pre>
      <CopyButton text={code} />
    </div>
  )
}

/** The same example in several languages, with a switch between them. */
export function CodeTabs({ samples }: { samples: readonly { name: string; code: string }[] }) {
  const [name, setName] = useState(samples[0]?.name ?? '')
  return (
    <div className={classes.tabs}>
      <SegmentedControl
        value={name}
        onChange={setName}
        data={samples.map((sample) => sample.name)}
        aria-label="Language"
      />
      <CodeBlock code={samples.find((sample) => sample.name === name)?.code ?? ''} />
    </div>
  )
}

function CopyButton({ text }: { text: string }) {
  const clipboard = useClipboard({ timeout: 1_500 })
  return (
    <Tooltip label={clipboard.copied ? 'Copied' : 'Copy'}>
      <ActionIcon className={classes.copy} aria-label="Copy this text" onClick={() => clipboard.copy(text)}>
        {clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} stroke={1.75} />}
      </ActionIcon>
    </Tooltip>
  )
}

const TOKENS =
  /(?<comment>(?:^|\s)#.*$|(?:^|\s)\/\/.*$)|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<keyword>\b(?:import|from|const|let|new|await|async|return|export|curl|def|if|else|throw|func|package|true|false|null|None|True|False)\b)/gm

function coloured(code: string): ReactNode[] {
  const parts: ReactNode[] = []
  let end = 0
  for (const match of code.matchAll(TOKENS)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0]
    parts.push(code.slice(end, match.index))
    parts.push(
      <span key={match.index} className={classes[kind ?? '']}>
        {match[0]}
      </span>,
    )
    end = match.index + match[0].length
  }
  return [...parts, code.slice(end)]
}
