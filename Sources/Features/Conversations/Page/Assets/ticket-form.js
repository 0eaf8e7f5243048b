// The form for a ticket, which identifies the person if the server requires tickets.
import { find, setText } from './dom.js'
import { subjectOf } from './identity.js'
import { clearTalks, ticket } from './store.js'

/** Shows the form after the server has refused a missing or invalid ticket. */
export function showTicketForm({ code, reason }, hasTicket) {
  document.body.dataset.view = 'ticket'
  document.body.dataset.link = 'refused'
  setText(find('#banner'), '')
  setText(find('#ticket-error'), code === 'ticket_expired' ? 'Your ticket has expired.' : code === 'bad_ticket' ? reason : '')
  find('#no-ticket').hidden = !hasTicket
  find('#own-ticket').focus()
}

/** Reloads the page as the ticket's user, or as this device if the ticket is `null`. */
function become(text) {
  clearTalks()
  ticket.set(text)
  location.reload()
}

find('#ticket-form').addEventListener('submit', event => {
  event.preventDefault()
  const text = find('#own-ticket').value.trim()
  if (subjectOf(text) === null) return setText(find('#ticket-error'), 'This isn’t a ticket.')
  become(text)
})

find('#no-ticket').onclick = () => become(null)
