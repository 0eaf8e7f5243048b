// One stream for all tabs of a browser: over HTTP/1.1 it has six connections to a server, and a stream keeps one of them.

/** The stream of another tab that is silent for longer than this sleeps: its own limit, and a little more. */
const SILENCE = 45_000

/**
 * Has one tab at a time run the stream, and every tab's `told` hear of it: `live()`, `lost()`, `event(name, data)`. `make(told)`
 * gives a stream, which has `run()` and `stop()` and tells of `beat()` too. Where tabs can't agree (they can on https and on
 * localhost, unless the browser keeps nothing of the site), each has its own.
 */
export function shareStream(make, told, silence = SILENCE) {
  const channel = navigator.locks && openChannel()
  let stream = null
  let state = null
  let heardAt = Date.now()

  const run = listener => {
    stream = make(listener)
    return stream.run()
  }
  const alone = () => run({ ...told, beat() {} })
  if (!channel) return alone()

  const tell = (name, ...details) => {
    if (name === 'live' || name === 'lost') state = { name, details }
    channel.postMessage({ name, details })
    told[name]?.(...details)
  }
  const lead = () => run({
    live: () => tell('live'), lost: () => tell('lost'), beat: () => tell('beat'),
    event: (name, data) => tell('event', name, data),
  })
  const stop = () => {
    stream?.stop()
    stream = state = null
    heardAt = Date.now()
  }
  // Held until this tab goes; then the next one's turn comes. Aborted when another tab takes it.
  const queue = () => navigator.locks.request('stream', lead).catch(error => {
    if (error.name !== 'AbortError') return alone()
    stop()
    queue()
  })
  // A tab that nobody sees may be put to sleep with the stream in its hands.
  const look = () => {
    if (stream || document.hidden || Date.now() - heardAt < silence) return
    heardAt = Date.now()
    // The place in the queue stays.
    navigator.locks.request('stream', { steal: true }, lead).catch(stop)
  }

  channel.onmessage = ({ data: { name, details } }) => {
    if (name !== 'ask') {
      heardAt = Date.now()
      told[name]?.(...details)
    } else if (state) channel.postMessage(state)
  }
  channel.postMessage({ name: 'ask' })
  queue()
  setInterval(look, silence / 8)
  document.addEventListener('visibilitychange', look)
}

function openChannel() {
  try {
    return new BroadcastChannel('stream')
  } catch {
    return null
  }
}
