// The view of the list of conversations.
import { find, part, setText, stamp } from './dom.js'
import { shortly } from './moments.js'

/** An icon of one, two or three heads. With three it also has the number of people. */
function drawSign(sign, count) {
  if (sign.dataset.count === `${count}`) return
  sign.dataset.count = count
  const heads = Array.from({ length: Math.min(3, Math.max(1, count)) }, () => stamp('heads'))
  sign.replaceChildren(...heads, ...count > 2 ? [`${count}`] : [])
}

/** Sets the order of the children. Unchanged ones aren't touched, so they keep the focus. */
export function arrange(list, wanted) {
  let at = list.firstElementChild
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling
    else list.insertBefore(child, at)
  }
  while (at) {
    const next = at.nextElementSibling
    at.remove()
    at = next
  }
}

export class Inbox {
  #rows = new Map()

  /** `shown` is the id of the conversation beside the list; `here(talk)` returns the others who are present. */
  draw(talks, me, shown, here) {
    const rows = new Map()
    for (const talk of talks) rows.set(talk.id, this.#draw(talk, me, talk.id === shown, here(talk).length))
    const focused = document.activeElement
    arrange(find('#talks'), [...rows.values()])
    // A moved element loses the focus.
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true })
    this.#rows = rows
  }

  focus(id) { (this.#rows.get(id)?.firstElementChild ?? find('#list-title')).focus() }

  #draw(talk, me, isShown, here) {
    const row = this.#rows.get(talk.id) ?? stamp('row')
    const link = row.firstElementChild
    const count = talk.participants.length
    const unread = isShown ? 0 : talk.unread(me)
    const last = talk.lastMessage
    link.setAttribute('href', `#${talk.id}`)
    if (isShown) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
    drawSign(row.querySelector('.sign'), talk.type === 'person' ? 2 : count)
    setText(part(row, 'title'), talk.title(me))
    setText(part(row, 'count'), ` (${count === 1 ? 'only you' : `${count} people`}${here ? `, ${here} here` : ''}) `)
    row.classList.toggle('here', here > 0)
    setText(part(row, 'last'), !last ? '' : `${last.author === me ? 'You: ' : talk.type === 'person' || !last.author ? '' : `${last.author}: `}${last.content || 'Erased'}`)
    setText(part(row, 'time'), last ? shortly(Date.parse(last.date)) : '')
    setText(part(row, 'muted'), talk.muted ? 'muted' : talk.hasLeft(me) ? 'left' : '')
    const badge = part(row, 'unread')
    setText(badge, unread ? `${unread}` : '')
    if (unread) badge.setAttribute('aria-label', `${unread} unread`)
    row.classList.toggle('fresh', unread > 0)
    row.classList.toggle('quiet', talk.muted)
    return row
  }
}
