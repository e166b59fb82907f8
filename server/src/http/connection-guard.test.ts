import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { CONNECTION_BOUNDS, ConnectionGuard, type CutReason } from './connection-guard.ts'
import { TrustedProxies } from './trusted-proxies.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

/** A guarded server with small bounds, whose listener the test decides. */
async function serve(
  context: TestContext,
  listener: RequestListener,
  { proxies = [], ...bounds }: Partial<typeof CONNECTION_BOUNDS> & { proxies?: string[] } = {},
) {
  const cut: Partial<Record<CutReason, number>>[] = []
  const guard = new ConnectionGuard({
    bounds: { ...CONNECTION_BOUNDS, ...bounds },
    proxies: new TrustedProxies(proxies),
    onCut: (reasons) => cut.push(reasons),
  })
  const server = createServer(guard.guarded(listener))
  guard.watch(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  const open = (localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {}) // Cut off: 'close' follows.
    sockets.push(socket)
    return socket
  }
  context.after(() => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return { open, cut }
}

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

/** Reads until so many answers have arrived; fails if the connection is closed before. */
function answers(socket: Socket, count: number): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    socket.on('data', (data) => {
      text += data
      if (text.split('HTTP/1.1 200').length > count) resolve(text)
    })
    socket.once('close', () => reject(new Error(`the connection was closed after ${JSON.stringify(text)}`)))
  })
}

test('a connection has one request answered at a time, in the order of arrival', async (t) => {
  let inFlight = 0
  let most = 0
  const order: string[] = []
  const { open } = await serve(t, (request, response) => {
    inFlight += 1
    most = Math.max(most, inFlight)
    order.push(request.url!)
    setImmediate(() => {
      inFlight -= 1
      response.end(request.url)
    })
  })
  const socket = open()
  socket.write([1, 2, 3, 4, 5].map((number) => `GET /${number} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  await answers(socket, 5)
  assert.deepEqual([most, order], [1, ['/1', '/2', '/3', '/4', '/5']])
})

test('the body of a pipelined request is complete, however long it waited', async (t) => {
  const { open } = await serve(t, (request, response) => {
    let bytes = 0
    request.on('data', (data) => (bytes += data.length)).on('end', () => response.end(String(bytes)))
  })
  const socket = open()
  const post = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`
  socket.write(post.repeat(3))
  assert.equal((await answers(socket, 3)).match(/300000/g)?.length, 3)
})

test('one request too many in the pipeline cuts the connection off, and starts no other request', async (t) => {
  let started = 0
  const { open } = await serve(
    t,
    () => {
      started += 1 // Never answered, so that all others wait.
    },
    { pipelinedMax: 5 },
  )
  const socket = open()
  socket.write(REQUEST.repeat(7))
  await closed(socket)
  assert.equal(started, 1)
})

test('pipelined requests are bounded for all connections of a network together, and other networks are not affected', async (t) => {
  const { open } = await serve(
    t,
    (request, response) => {
      if (request.url === '/now') response.end()
    },
    { pipelinedPerNetworkMax: 10 },
  )
  const flooding = Array.from({ length: 4 }, () => open('127.0.0.2'))
  for (const socket of flooding) socket.write(REQUEST.repeat(4))
  await Promise.race(flooding.map(closed))
  const other = open('127.0.0.3')
  other.write('GET /now HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3))
  await answers(other, 3)
})

test('one network may hold half of the connections', async (t) => {
  const { open } = await serve(t, (_request, response) => response.end(), { connectionsMax: 6 })
  const greedy = Array.from({ length: 3 }, () => open('127.0.0.2'))
  for (const socket of greedy) {
    socket.write(REQUEST)
    await answers(socket, 1)
  }
  await closed(open('127.0.0.2'))
  const other = open('127.0.0.3')
  other.write(REQUEST)
  await answers(other, 1)

  greedy[0]!.destroy()
  await closed(greedy[0]!)
  await new Promise((resolve) => setImmediate(resolve))
  const again = open('127.0.0.2')
  again.write(REQUEST)
  await answers(again, 1)
})

test('while one network sends more than its turn allows, another is answered in between', async (t) => {
  const order: string[] = []
  const { open } = await serve(t, (request, response) => {
    order.push(request.url!)
    response.end()
  })
  const flooding = Array.from({ length: 40 }, () => open('127.0.0.2'))
  const other = open('127.0.0.3')
  // Every connection is accepted before the flood begins.
  for (const socket of [...flooding, other]) {
    socket.write(REQUEST)
    await answers(socket, 1)
  }
  for (const socket of flooding) socket.write('GET /flood HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(30))
  other.write('GET /other HTTP/1.1\r\nHost: x\r\n\r\n')
  await answers(other, 1)
  const before = order.filter((url) => url === '/flood').length
  assert.ok(before < 400, `${before} of 1200 requests came first`)
})

/** How many requests of a flood through a proxy come before the one of another client, all from the proxy's address. */
async function floodBefore(t: TestContext, proxies: string[]): Promise<number> {
  const order: string[] = []
  const { open } = await serve(
    t,
    (request, response) => {
      order.push(request.url!)
      response.end()
    },
    { proxies },
  )
  const send = (url: string, client: string) => `GET ${url} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n\r\n`
  const flooding = Array.from({ length: 200 }, () => open('127.0.0.2'))
  const other = open('127.0.0.2')
  for (const socket of [...flooding, other]) {
    socket.write(REQUEST)
    await answers(socket, 1)
  }
  for (const socket of flooding) socket.write(send('/flood', '203.0.113.5').repeat(30))
  other.write(send('/other', '203.0.113.6'))
  await answers(other, 1)
  return order.filter((url) => url === '/flood').length
}

test('behind a trusted proxy, a client that sends more than its turn allows does not delay another', async (t) => {
  const [trusted, forged] = [await floodBefore(t, ['127.0.0.2']), await floodBefore(t, [])]
  assert.ok(trusted < 400, `${trusted} of 6000 requests came first`)
  // Without trust the header changes nothing: the client waits behind the flood, as one of the same network.
  assert.ok(forged > trusted, `${forged} came first without trust, ${trusted} with it`)
})

test('a trusted proxy may hold all connections, and its clients have their own bounds on pipelining', async (t) => {
  const { open } = await serve(
    t,
    (request, response) => {
      if (request.url === '/now') response.end()
    },
    { proxies: ['127.0.0.2'], connectionsMax: 6, pipelinedPerNetworkMax: 3 },
  )
  const send = (url: string, client: string) => `GET ${url} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n\r\n`
  const [first, second, third, ...others] = Array.from({ length: 6 }, () => open('127.0.0.2'))
  for (const socket of others) {
    socket.write(send('/now', '203.0.113.9'))
    await answers(socket, 1)
  }
  await closed(open('127.0.0.2'))
  first!.write(send('/held', '203.0.113.5').repeat(3))
  second!.write(send('/held', '203.0.113.5').repeat(3))
  await Promise.race([closed(first!), closed(second!)])
  third!.write(send('/now', '203.0.113.6').repeat(4))
  await answers(third!, 4)
})

test('behind a trusted proxy, one client may hold half of the connections, and has them back once it is answered', async (t) => {
  const held: (() => void)[] = []
  const { open } = await serve(
    t,
    (request, response) => {
      if (request.url === '/held') held.push(() => response.end())
      else response.end()
    },
    { proxies: ['127.0.0.2'], connectionsMax: 6 },
  )
  const send = (url: string, client: string) => `GET ${url} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n\r\n`
  const greedy = Array.from({ length: 3 }, () => open('127.0.0.2'))
  for (const socket of greedy) socket.write(send('/held', '203.0.113.5'))
  while (held.length < 3) await new Promise((resolve) => setImmediate(resolve))
  const fourth = open('127.0.0.2')
  fourth.write(send('/now', '203.0.113.5'))
  await closed(fourth)
  const other = open('127.0.0.2')
  other.write(send('/now', '203.0.113.6'))
  await answers(other, 1)

  for (const answer of held) answer()
  await Promise.all(greedy.map((socket) => answers(socket, 1)))
  greedy[0]!.write(send('/now', '203.0.113.5'))
  await answers(greedy[0]!, 1)
})

test('a client that does not read its answers is cut off, and one that reads slowly is not', async (t) => {
  const { open, cut } = await serve(t, (_request, response) => response.end('x'.repeat(20_000_000)), {
    unreadForMsMax: 1_000,
  })
  const silent = open()
  silent.pause()
  silent.write(REQUEST)
  const reader = open()
  reader.write(REQUEST)
  reader.resume()
  silent.on('close', () => {})
  while (cut.length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(cut, [{ unread: 1 }])
  assert.equal(reader.destroyed, false)
})
