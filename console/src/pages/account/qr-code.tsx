import { useMemo } from 'react'
import { encode } from 'uqr'

const SIZE_PX = 168

/** A QR code, dark on white in both themes, because that is what cameras read. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const code = encode(text, { border: 2 })
    const squares = code.data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    return { size: code.size, path: squares.join('') }
  }, [text])
  return (
    <svg viewBox={`0 0 ${size} ${size}`} width={SIZE_PX} height={SIZE_PX} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#0f1d1b" shapeRendering="crispEdges" />
    </svg>
  )
}
