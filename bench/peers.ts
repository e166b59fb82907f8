/** The packages that Verdigraph is compared with: optional, because a platform or a registry may lack one of them. */
const PEERS = {
  '@gorules/zen-engine': () => import('@gorules/zen-engine'),
  'json-rules-engine': () => import('json-rules-engine'),
}

/** The name of a peer's package. */
export type PeerName = keyof typeof PEERS

/** The package of a peer, once it is loaded. */
export type PeerPackage<N extends PeerName> = Awaited<ReturnType<(typeof PEERS)[N]>>

/** A peer that can be measured, or the reason why it is left out. */
export type LoadedPeer<N extends PeerName> = { package: PeerPackage<N> } | { leftOut: string }

/** Loads a peer; one that npm could not install, or that has no build for this platform, is left out. */
export async function loadPeer<N extends PeerName>(name: N): Promise<LoadedPeer<N>> {
  try {
    return { package: (await PEERS[name]()) as PeerPackage<N> }
  } catch (error) {
    return { leftOut: `${name} ${reasonOf(error)}` }
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message: string }
  if (code === 'ERR_MODULE_NOT_FOUND') return 'is not installed'
  // zen explains at length how to install again; its first sentence says what is missing.
  const [firstSentence] = message.split(/\.(?:\s|$)/)
  return `does not load on ${process.platform}-${process.arch}: ${firstSentence}`
}

/** The reasons why peers were left out, by the name of each. */
export function leftOutPeers(peers: { [N in PeerName]?: LoadedPeer<N> }): Partial<Record<PeerName, string>> {
  const reasons = Object.entries(peers).flatMap(([name, peer]) => ('leftOut' in peer ? [[name, peer.leftOut]] : []))
  return Object.fromEntries(reasons)
}
