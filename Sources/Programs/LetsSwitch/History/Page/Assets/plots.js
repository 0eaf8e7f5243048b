// What is plotted: numbers in, text and paths out. This module doesn't use the DOM.

const line = (name, label, isBad = false) => ({ name, label, isBad })

/** The plots in their order, for a daemon with these providers. `per` is the number of seconds that a rate is shown for. */
export function plotsOf(providers) {
  const names = { apns: 'Apple', webpush: 'Web Push', ntfy: 'ntfy', webhook: 'Webhook' }
  return [
    { title: 'People', lines: [line('people', 'connections')] },
    { title: 'Rooms', lines: [line('rooms', 'with members')] },
    { title: 'Messages a second', lines: [line('received', 'in'), line('sent', 'out')] },
    { title: 'Reminders due', lines: [line('due', 'in the next hour')] },
    { title: 'Reminders late, in seconds', lines: [line('late', 'late')], badFrom: 1 },
    ...providers.map(provider => ({
      title: `${names[provider] ?? provider}, deliveries a minute`, per: 60,
      lines: [line(`accepted.${provider}`, 'accepted'), line(`failed.${provider}`, 'failed', true)],
    })),
    { title: 'Bus, packets a second', lines: [line('busIn', 'in'), line('busOut', 'out'), line('busLost', 'ales lost', true)] },
    { title: 'Database, statements a second', lines: [line('queries', 'all'), line('queryFailures', 'failed', true)] },
    { title: 'Database, milliseconds', lines: [line('queryTime', 'a statement')] },
    { title: 'Database, statements that wait', lines: [line('waiting', 'for a connection')], badFrom: 1 },
  ]
}

/** Returns the next round number: 1, 2 or 5 with zeros, at least 1. */
export function ceiling(value) {
  if (!(value > 1)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map(factor => factor * power).find(round => round >= value)
}

/** Formats a number with at most three digits, then in thousands. */
export function wordOf(value) {
  if (value === null || value === undefined) return '–'
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))} k`
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))}`
}

/** Returns the last known point. The newest one may not be complete yet. */
export const latest = points => points?.findLast(point => point !== null) ?? null

/** Returns a path through the known points, in a box of that size, with gaps where nothing is known. */
export function pathOf(points, most, width = 300, height = 80) {
  const step = width / Math.max(1, points.length - 1)
  let path = ''
  let isDrawing = false
  points.forEach((point, index) => {
    if (point === null) { isDrawing = false; return }
    const [x, y] = [index * step, height - Math.min(1, point / most) * height]
    const place = `${Number(x.toFixed(1))} ${Number(y.toFixed(1))}`
    // A single point is a dot: a line without length has round ends.
    path += isDrawing ? `L${place}` : `M${place}L${place}`
    isDrawing = true
  })
  return path
}
