import { useEffect, useState } from 'react'
import type { Neighbourhood } from './entity.ts'
import type { LayoutInput, PlacedNode } from './graph-layout.ts'
import { badPathsOf, widthOf } from './graph-names.ts'

/** Places the nodes of a neighbourhood in a worker; undefined until they are placed. */
export function useGraphLayout({ nodes, links }: Neighbourhood): ReadonlyMap<string, PlacedNode> | undefined {
  const [placed, setPlaced] = useState<ReadonlyMap<string, PlacedNode>>()
  useEffect(() => {
    const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
    worker.addEventListener('message', ({ data }: MessageEvent<PlacedNode[]>) =>
      setPlaced(new Map(data.map((node) => [node.id, node]))),
    )
    const onBadPath = badPathsOf(links)
    const input: LayoutInput = {
      nodes: nodes.map(({ id, hops, name }) => ({
        id,
        hops,
        nameWidth: hops === 0 || onBadPath.has(id) ? widthOf(name) : 0,
      })),
      links: links.map(({ from, to }) => ({ from, to })),
    }
    worker.postMessage(input)
    return () => worker.terminate()
  }, [nodes, links])
  return placed
}
