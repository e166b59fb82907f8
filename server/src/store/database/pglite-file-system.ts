import { fdatasyncSync, fsyncSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** The parts of Emscripten's file system on Node.js that PGlite's types leave out. */
interface EmscriptenModule {
  FS: { isDir(mode: number): boolean }
  NODEFS: {
    stream_ops: { fsync?: (stream: OpenFile) => number }
    /** Turns an error of Node.js into an errno that the calling C code gets. */
    tryFSOperation(operation: () => void): void
  }
}

/** An open file, with its descriptor. */
interface OpenFile {
  nfd: number
  node: { mode: number }
}

/** What a database does with its folder. */
export interface PgliteFiles {
  folder: string
  /** Whether writes are synced to the disk before they are acknowledged. */
  syncs: boolean
  /** Called when PostgreSQL has panicked, such as after a failed fsync: nothing may call it again. */
  onPanic: () => void
}

/** The folder of an embedded database, as its PostgreSQL sees it. PGlite's own `NodeFS` ignores fsync. */
export class PgliteFileSystem extends NodeFS {
  readonly #files: PgliteFiles

  constructor(files: PgliteFiles) {
    super(files.folder)
    this.#files = files
  }

  override async init(...[database, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { syncs, onPanic } = this.#files
    const { emscriptenOpts } = await super.init(database, options)
    const preRun = [...(emscriptenOpts.preRun ?? [])]
    if (syncs) preRun.push((module) => addFsync(module as unknown as EmscriptenModule))
    return { emscriptenOpts: { ...emscriptenOpts, preRun, onAbort: onPanic } }
  }
}

function addFsync({ FS, NODEFS }: EmscriptenModule): void {
  NODEFS.stream_ops.fsync = ({ nfd, node }) => {
    // fdatasync also puts the length of a file on disk; what it leaves out is the time of the change. Of a directory, some
    // file systems may leave out a new name as well.
    NODEFS.tryFSOperation(() => (FS.isDir(node.mode) ? fsyncSync(nfd) : fdatasyncSync(nfd)))
    return 0
  }
}

/** The arguments of PostgreSQL. PGlite's own have `-F`, which turns fsync off. */
export function startParamsOf({ syncs }: Pick<PgliteFiles, 'syncs'>): string[] {
  if (!syncs) return PGlite.defaultStartParams
  const params = PGlite.defaultStartParams.filter((param) => param !== '-F')
  // Emscripten implements fsync and ignores fdatasync, the default.
  return [...params, '-c', 'wal_sync_method=fsync']
}
