import { connect, type Socket } from 'node:net'

/** The answer to one request, without its headers. */
export interface Answer {
  status: number
  body: string
}

const HEAD_END = '\r\n\r\n'

/**
 * One keep-alive connection that sends one request at a time.
 *
 * On a machine with two cores the client competes with the server for processor time, so it does as little as possible:
 * requests are ready-made text, and only the status and the length of an answer are parsed.
 */
export class HttpConnection {
  readonly #socket: Socket
  #received = ''
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => this.#take(chunk))
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')))
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new HttpConnection(socket)))
      socket.once('error', reject)
    })
  }

  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #take(chunk: string): void {
    this.#received += chunk
    const headEnd = this.#received.indexOf(HEAD_END)
    if (headEnd < 0) return
    const head = this.#received.slice(0, headEnd)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    const end = headEnd + HEAD_END.length + length
    if (this.#received.length < end) return
    const answer = { status: Number(head.slice(9, 12)), body: this.#received.slice(headEnd + HEAD_END.length, end) }
    this.#received = this.#received.slice(end)
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve(answer)
  }
}

/** Opens several connections to a port. */
export function openConnections(port: number, count: number): Promise<HttpConnection[]> {
  return Promise.all(Array.from({ length: count }, () => HttpConnection.open(port)))
}

/** Sends `count` requests over all connections; each sends its next as soon as its last is answered with success. */
export async function sendAll(
  connections: readonly HttpConnection[],
  count: number,
  requestAt: (index: number) => string,
): Promise<void> {
  let next = 0
  const work = async (connection: HttpConnection) => {
    while (next < count) {
      const { status, body } = await connection.send(requestAt(next++))
      if (status >= 300) throw new Error(`a request was answered with status ${status}: ${body}`)
    }
  }
  await Promise.all(connections.map(work))
}

/** A POST with a JSON body, as text ready for a socket. */
export function postText({
  path,
  key,
  idempotencyKey,
  body,
}: {
  path: string
  key: string
  idempotencyKey?: string
  body: unknown
}): string {
  const text = JSON.stringify(body)
  const idempotency = idempotencyKey === undefined ? '' : `Idempotency-Key: ${idempotencyKey}\r\n`
  return (
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n${idempotency}` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  )
}
