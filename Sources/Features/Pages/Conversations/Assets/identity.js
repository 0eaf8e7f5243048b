// Who one is to the server, where it is a ticket that says so. Without DOM.

/** The device that a ticket names; `null` if it is none. Whether it is good, the server says. */
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

/** The ticket in an address's fragment, `#token=…` or `#<conversation>&token=…`, and the fragment without it. */
export function ticketIn(hash) {
  const token = /(?:^#|&)token=([^&]*)/.exec(hash)
  return { ticket: token?.[1] || null, rest: token ? hash.replace(token[0], '').replace(/^(?=[^#])/, '#') : hash }
}
