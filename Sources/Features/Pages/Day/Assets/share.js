// One stream for all tabs of a browser: over HTTP/1.1 it has six connections to a server, and a stream keeps one of them.

/** The stream of another tab that is silent for longer than this sleeps: its own limit, and a little more. */
const SILENCE = 45_000

/** The longest span that the server takes, and a little less. */
const LONGEST = 31 * 86_400_000

/**
 * Has one tab at a time run the stream, and every tab's `told` hear of it: `live()`, `lost()`, `event(name, data)`. `make(told,
 * span)` gives a stream, which has `run()`, `stop()` and `show(span)` and tells of `beat()` too; its span holds those of all tabs.
 * What it gives has `show(span)`, for this tab's. Where tabs can't agree (they can on https and on
 * localhost, unless the browser keeps nothing of the site), each has its own.
 */
export function shareStream(make, told, silence = SILENCE, mine = null) {
  const channel = navigator.locks && openChannel()
  let stream = null
  let state = null
  let heardAt = Date.now()
  // What other tabs show. Those that close are forgotten when this one turns to another day.
  const others = new Map()
  const self = Math.random()

  const whole = () => {
    const spans = [mine, ...others.values()].filter(Boolean)
    if (spans.length < 2) return mine
    const from = Math.min(...spans.map(span => span.from))
    const to = Math.max(...spans.map(span => span.to))
    return to - from < LONGEST ? { from, to } : mine
  }
  const run = listener => {
    stream = make(listener, whole())
    return stream.run()
  }
  const alone = () => run({ ...told, beat() {} })
  const post = (name, ...details) => channel?.postMessage({ name, details })
  const show = span => {
    mine = span
    others.clear()
    post(stream ? 'who' : 'show', self, mine)
    stream?.show(whole())
  }
  if (!channel) {
    alone()
    return { show }
  }

  const tell = (name, ...details) => {
    if (name === 'live' || name === 'lost') state = { name, details }
    post(name, ...details)
    told[name]?.(...details)
  }
  const lead = () => {
    others.clear()
    post('who')
    return run({
      live: () => tell('live'), lost: () => tell('lost'), beat: () => tell('beat'),
      event: (name, data) => tell('event', name, data),
    })
  }
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
    if (name === 'who') post('show', self, mine)
    else if (name === 'show') {
      const [tab, span] = details
      others.set(tab, span)
      if (stream && span) stream.show?.(whole())
    } else if (name !== 'ask') {
      heardAt = Date.now()
      told[name]?.(...details)
    } else if (state) channel.postMessage(state)
  }
  post('ask')
  queue()
  setInterval(look, silence / 8)
  document.addEventListener('visibilitychange', look)
  return { show }
}

function openChannel() {
  try {
    return new BroadcastChannel('stream')
  } catch {
    return null
  }
}
