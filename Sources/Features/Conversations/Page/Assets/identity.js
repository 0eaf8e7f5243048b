// The identity in a ticket. This module doesn't use the DOM.

/** Returns the device in a ticket; `null` if it isn't a ticket. Only the server checks whether it is valid. */
export function subjectOf(ticket) {
  try {
    const [, claims] = ticket.split('.')
    const bytes = Uint8Array.from(atob(claims.replace(/-/g, '+').replace(/_/g, '/')), char => char.charCodeAt(0))
    const { sub } = JSON.parse(new TextDecoder().decode(bytes))
    return typeof sub === 'string' ? sub : null
  } catch {
    return null
  }
}

/** Returns the ticket in an address's fragment, `#token=…` or `#<conversation>&token=…`, and the fragment without it. */
export function ticketIn(hash) {
  const token = /(?:^#|&)token=([^&]*)/.exec(hash)
  return { ticket: token?.[1] || null, rest: token ? hash.replace(token[0], '').replace(/^(?=[^#])/, '#') : hash }
}
