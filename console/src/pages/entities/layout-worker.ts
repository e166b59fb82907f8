import { type LayoutInput, layoutGraph } from './graph-layout.ts'

// Three hundred nodes take some hundred milliseconds, during which the page must not stand still.
self.addEventListener('message', ({ data }: MessageEvent<LayoutInput>) => self.postMessage(layoutGraph(data)))
