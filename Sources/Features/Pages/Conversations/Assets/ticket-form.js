// Who one is by a ticket, where the server wants one.
import { find, say } from './dom.js'
import { subjectOf } from './identity.js'
import { forgetTalks, ticket } from './store.js'

/** Asks for a ticket: the server takes none, or not the one there is. */
export function showTicketForm({ code, reason }, hasTicket) {
  document.body.dataset.view = 'ticket'
  document.body.dataset.link = 'refused'
  say(find('#banner'), '')
  say(find('#ticket-error'), code === 'ticket_expired' ? 'Your ticket is over.' : code === 'bad_ticket' ? reason : '')
  find('#no-ticket').hidden = !hasTicket
  find('#own-ticket').focus()
}

/** Begins anew as who a ticket says, or as this device. */
function become(text) {
  forgetTalks()
  ticket.set(text)
  location.reload()
}

find('#ticket-form').addEventListener('submit', event => {
  event.preventDefault()
  const text = find('#own-ticket').value.trim()
  if (subjectOf(text) === null) return say(find('#ticket-error'), 'That is no ticket.')
  become(text)
})

find('#no-ticket').onclick = () => become(null)
