// One stream for all tabs of a browser. Over HTTP/1.1 a browser has six connections to a server, and a stream uses one of them.

/** If another tab's stream is silent for longer, that tab is frozen: the stream's own limit, and a little more. */
const SILENCE = 45_000

/** A little less than the longest period that the server accepts. */
const LONGEST = 31 * 86_400_000

/**
 * Runs the stream in one tab at a time, and calls `handlers` in every tab: `live()`, `lost()`, `event(name, data)`. `make(handlers, span)`
 * returns a stream with `run()`, `stop()` and `show(span)`, which also calls `beat()`. Its period includes those of all tabs.
 * The result has `show(span)`, for this tab's period. Tabs can coordinate on https and localhost, unless the browser stores
 * nothing for the site. Otherwise each has its own stream.
 */
export function shareStream(make, handlers, silence = SILENCE, mine = null) {
  const channel = navigator.locks && openChannel()
  let stream = null
  let state = null
  let receivedAt = Date.now()
  // The periods of other tabs. Closed tabs are removed when this one shows another day.
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
  const alone = () => run({ ...handlers, beat() {} })
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

  const broadcast = (name, ...details) => {
    if (name === 'live' || name === 'lost') state = { name, details }
    post(name, ...details)
    handlers[name]?.(...details)
  }
  const lead = () => {
    others.clear()
    post('who')
    return run({
      live: () => broadcast('live'), lost: () => broadcast('lost'), beat: () => broadcast('beat'),
      event: (name, data) => broadcast('event', name, data),
    })
  }
  const stop = () => {
    stream?.stop()
    stream = state = null
    receivedAt = Date.now()
  }
  // Held until this tab closes; then the next tab takes over. Aborted when another tab takes it.
  const queue = () => navigator.locks.request('stream', lead).catch(error => {
    if (error.name !== 'AbortError') return alone()
    stop()
    queue()
  })
  // The browser may freeze a hidden tab that runs the stream.
  const look = () => {
    if (stream || document.hidden || Date.now() - receivedAt < silence) return
    receivedAt = Date.now()
    // This tab's earlier request stays in the queue.
    navigator.locks.request('stream', { steal: true }, lead).catch(stop)
  }

  channel.onmessage = ({ data: { name, details } }) => {
    if (name === 'who') post('show', self, mine)
    else if (name === 'show') {
      const [tab, span] = details
      others.set(tab, span)
      if (stream && span) stream.show?.(whole())
    } else if (name !== 'ask') {
      receivedAt = Date.now()
      handlers[name]?.(...details)
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
