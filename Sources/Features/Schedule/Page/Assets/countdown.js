// What the room shows at an instant. This module doesn't use the DOM.

/** The seconds of the last phase. */
export const LAST = 5
/** How long "Start!" is shown, in milliseconds. */
const CHEER = 20_000

/**
 * Returns `left`, the whole seconds until the start, rounded up, 0 at the start; `phase`: wait, last, start or going;
 * `text`: the large text; `progress`: 0 when the lead begins, 1 at the start.
 */
export function countdown(startsAt, now, lead) {
  const left = Math.max(0, Math.ceil((startsAt - now) / 1000))
  const progress = Math.min(1, Math.max(0, 1 - (startsAt - now) / Math.max(lead, 1000)))
  if (left > 0) return { left, phase: left > LAST ? 'wait' : 'last', text: textOf(left), progress }
  const minutes = Math.floor((now - startsAt) / 60_000)
  if (now - startsAt < CHEER) return { left, phase: 'start', text: 'Start!', progress }
  return { left, phase: 'going', text: minutes < 1 ? 'Go on' : `${minutes} min`, progress }
}

function textOf(left) {
  if (left < 100) return `${left}`
  const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60]
  const two = number => `${number}`.padStart(2, '0')
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`
}

/** The text for screen readers when the seconds left change from `before` to `left`; `null` for most of them. */
export function spoken(before, left) {
  if (before === left) return null
  if (left === 0) return before > 0 ? 'Start!' : null
  if (left <= LAST) return `${left}`
  const passed = [60, 30, 10].find(mark => left <= mark && (before === null || before > mark) && left > mark - 3)
  if (!passed && before !== null) return null
  return left < 120 ? `${left} seconds to go` : `${Math.ceil(left / 60)} minutes to go`
}
