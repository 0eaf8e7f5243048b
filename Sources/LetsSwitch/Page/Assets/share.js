// One stream for all tabs of a browser: over HTTP/1.1 it has six connections to a server, and a stream keeps one of them.

/**
 * Has one tab at a time `start` the stream, and every tab's `told` hear of it: `live()`, `lost()`, `event(name, data)`. Where
 * tabs can't agree (they can on https and on localhost), each has its own.
 */
export function shareStream(start, told) {
  if (!navigator.locks || !('BroadcastChannel' in self)) return start(told)
  const channel = new BroadcastChannel('stream')
  let state = null
  const tell = (name, ...details) => {
    if (name !== 'event') state = { name, details }
    channel.postMessage({ name, details })
    told[name](...details)
  }
  channel.onmessage = ({ data: { name, details } }) => {
    if (name !== 'ask') told[name](...details)
    else if (state) channel.postMessage(state)
  }
  channel.postMessage({ name: 'ask' })
  // Held until this tab goes; then the next one's turn comes.
  navigator.locks.request('stream', () => start({
    live: () => tell('live'), lost: () => tell('lost'), event: (name, data) => tell('event', name, data),
  }))
}
