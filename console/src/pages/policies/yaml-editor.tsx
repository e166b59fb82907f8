import { autocompletion, type CompletionContext } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef, useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import classes from './policies.module.css'

/** A problem of a policy at a line and a column, counted from one. */
export interface TextProblem {
  line?: number
  column?: number
  message: string
  isWarning?: true
}

type Language = OutputOf<'policies.show-language'>

/** An editor for the text of a policy; with `base` it shows the differences to another text, and is read only. */
export default function YamlEditor({
  text,
  label,
  base,
  problems = [],
  language,
  onChange,
}: {
  text: string
  label: string
  base?: string
  problems?: readonly TextProblem[]
  language?: Language | undefined
  onChange?: (text: string) => void
}) {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const known = useRef<Language>(undefined)
  const report = useRef(onChange)
  known.current = language
  report.current = onChange
  const isReadOnly = onChange === undefined
  // A read-only editor is created again for another text; an editor that the author types in takes it over.
  const [typedFrom] = useState(text)
  const doc = isReadOnly ? text : typedFrom

  useEffect(() => {
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc,
        extensions: [
          ...shared(label),
          isReadOnly ? EditorState.readOnly.of(true) : editing(() => known.current),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) report.current?.(update.state.doc.toString())
          }),
          ...(base === undefined
            ? []
            : [unifiedMergeView({ original: base, mergeControls: false, collapseUnchanged: {} })]),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [isReadOnly, doc, base, label])

  // The draft was discarded, or another tab changed it.
  useEffect(() => {
    const editor = view.current
    if (editor && editor.state.doc.toString() !== text)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } })
  }, [text])

  useEffect(() => {
    const editor = view.current
    if (editor) editor.dispatch(setDiagnostics(editor.state, diagnosticsIn(editor.state, problems)))
  }, [problems])

  return <div ref={place} className={classes.editor} />
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent-ink)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--ink-3)' },
  { tag: [tags.string, tags.content], color: 'var(--ink)' },
  { tag: [tags.number, tags.bool, tags.keyword], color: 'var(--cond-t)' },
])

function shared(label: string): Extension[] {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    EditorView.lineWrapping,
    lineNumbers(),
    yaml(),
    syntaxHighlighting(COLOURS),
  ]
}

function editing(language: () => Language | undefined): Extension {
  return [
    history(),
    drawSelection(),
    highlightActiveLine(),
    lintGutter(),
    autocompletion({ override: [(context) => complete(context, language())] }),
    // Tab leaves the editor, so that it is no trap for people who work with the keyboard.
    keymap.of([...defaultKeymap, ...historyKeymap]),
  ]
}

/** Completes names of features anywhere, and fields of the schema at the beginning of a line. */
function complete(context: CompletionContext, language: Language | undefined) {
  const word = context.matchBefore(/[a-z][a-z0-9_.]*/)
  if (!language || (!word && !context.explicit)) return null
  const from = word?.from ?? context.pos
  const start = context.state.doc.lineAt(context.pos)
  const isField = /^[\s-]*$/.test(context.state.sliceDoc(start.from, from))
  const features = language.features.map(({ name, type, label }) => ({
    label: name,
    type: 'variable',
    detail: type,
    info: label,
  }))
  const fields = isField
    ? fieldsIn(language.schema).map((label) => ({ label, type: 'property', apply: `${label}: ` }))
    : []
  return { from, options: [...fields, ...features], validFor: /^[a-z0-9_.]*$/ }
}

/** The names of all fields of a JSON schema. */
function fieldsIn(schema: unknown, found = new Set<string>()): string[] {
  if (Array.isArray(schema)) for (const one of schema) fieldsIn(one, found)
  else if (typeof schema === 'object' && schema !== null) {
    const { properties } = schema as { properties?: object }
    for (const name of Object.keys(properties ?? {})) found.add(name)
    for (const one of Object.values(schema)) fieldsIn(one, found)
  }
  return [...found]
}

function diagnosticsIn({ doc }: EditorState, problems: readonly TextProblem[]): Diagnostic[] {
  return problems.map(({ line = 1, column = 1, message, isWarning }) => {
    const { from, to } = doc.line(Math.min(line, doc.lines))
    const start = Math.min(from + column - 1, to)
    return { from: start, to, severity: isWarning ? 'warning' : 'error', message }
  })
}
