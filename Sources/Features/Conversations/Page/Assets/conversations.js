// The page of conversations: connects its modules.
import { Api } from './api.js'
import { firstDevice } from './device.js'
import { find, setText } from './dom.js'
import { Feed } from './feed.js'
import { Inbox } from './inbox.js'
import { subjectOf, ticketIn } from './identity.js'
import { keepPage } from './keeper.js'
import { MakeDialog } from './make.js'
import { Outbox, isPassing } from './outbox.js'
import { Backoff } from './retry.js'
import { device, outbox, shelf, ticket } from './store.js'
import { PAGE, Talks, isName } from './talks.js'
import { Thread, isWriting } from './thread.js'
import { showTicketForm } from './ticket-form.js'
import { sentence } from './words.js'

// A ticket in the address is kept and removed from it, so that it isn't in the history or on the screen.
const brought = ticketIn(location.hash)
if (brought.ticket) {
  ticket.set(brought.ticket)
  history.replaceState(null, '', location.pathname + brought.rest)
}
const pass = ticket.get()
// The page doesn't need the server's clock.
const clockless = { observe() {} }
const ownDevice = firstDevice(device.get())
const isRemembered = device.set(ownDevice)
const deviceId = subjectOf(pass) ?? ownDevice
const api = new Api(clockless, deviceId, pass ? { Authorization: `Bearer ${pass}` } : {})

const talks = new Talks()
let me = null
let link = 'waiting'
/** Whether the list is the server's and not the cached one. */
let isListed = false
/** Why the list can't be read. */
let trouble = null

// Receiving

let hasOpened = false

// The address of the WebSocket identifies the user.
const feed = new Feed(new Api(clockless, deviceId), () => {
  const query = new URLSearchParams({ deviceId })
  if (pass) query.set('token', pass)
  if (talks.after) query.set('after', talks.after)
  return `/conversations/socket?${query}`
}, {
  open({ user, offsets }) {
    const isFirst = me === null
    me = user
    link = 'live'
    if (hasOpened || talks.isBehind(offsets)) loadList()
    hasOpened = true
    if (isFirst) route()
    if (thread.talk?.trouble || thread.talk?.isKept) readMore(thread.talk)
    else readReactions(thread.talk)
    outgoing.pump()
    drawSoon()
  },
  message(frame) {
    const isKnown = talks.get(frame.message.conversation)
    const { talk, outcome } = talks.receive(frame)
    if (!isKnown) loadList()
    if (outcome === 'gap') readOn(talk)
    if (outcome === 'new') announce(talk, frame.message)
    drawSoon()
  },
  presence({ data: { conversation, users } }) {
    talks.here.set(conversation, users)
    drawSoon()
  },
  left({ conversation, user, participants }) {
    const talk = talks.get(conversation)
    if (!talk) return
    if (user === me) {
      // The list shows a group that one has left, and no pair. A block leaves many groups at once, so these don't load the list.
      if (talk.type === 'person') return loadList()
      talk.participants = participants
    } else {
      talk.part(user, participants)
      if (!talk.muted) setText(find('#status'), talk.type === 'group' ? `${user} has left the group with ${talk.title(me)}.` : `${user} has left.`)
    }
    drawSoon()
  },
  reaction(change) {
    talks.get(change.conversation)?.react(change)
    drawSoon()
  },
  lost() {
    link = 'lost'
    talks.here.clear()
    drawSoon()
  },
  refused,
})

/** Errors that a retry won't change. */
function refused(refusal) {
  if (refusal.code === 'name_required') return askName()
  if (refusal.status === 401) return askTicket(refusal)
  trouble = refusal
  drawSoon()
}

/** Returns the other users who are present in a conversation. */
const hereIn = talk => (talks.here.get(talk.id) ?? []).filter(name => name !== me && talk.participants.includes(name))

function announce(talk, { author, content }) {
  if (author === me) return
  const isShown = talk === thread.talk && !document.hidden
  if (talk === thread.talk) thread.came()
  if (isShown) setText(find('#status'), `${author}: ${content}`)
  else if (!talk.muted) setText(find('#status'), `${author}${talk.type === 'group' ? `, to ${talk.title(me)}` : ''}: ${content}`)
}

// The list

const patience = new Backoff({ first: 1_000 })
let again

/** Reads the list from the beginning, or the next page. Returns whether that succeeded. */
async function loadList(isMore = false) {
  clearTimeout(again)
  const moment = talks.moment
  try {
    talks.takeList(await api.get('/conversations', isMore ? { before: talks.next } : {}), moment, isMore)
    trouble = null
    isListed = true
    patience.reset()
    // The conversation that is shown may no longer exist.
    if (thread.talk && !talks.get(thread.talk.id)) location.hash = ''
    feed.connect()
    drawSoon()
    return true
  } catch (refusal) {
    if (isPassing(refusal)) again = setTimeout(loadList, patience.next(refusal.wait))
    refused(refusal)
    return false
  }
}

find('#more').onclick = () => loadList(true)

// A conversation

const thread = new Thread({
  send: content => outgoing.add([thread.talk.id], content),
  earlier: () => readMore(thread.talk),
  again: id => outgoing.again(id),
  drop: id => outgoing.drop(id),
  react: (id, emoji, added) => react(thread.talk, id, emoji, added),
})

/** Adds or removes an own reaction. */
async function react(talk, id, emoji, added) {
  const path = `/conversations/${talk.id}/messages/${id}/reactions`
  setText(find('#say-note'), '')
  try {
    const { offset } = await api[added ? 'post' : 'delete'](path, { emoji })
    talk.react({ offset, user: me, emoji, added })
  } catch (refusal) {
    setText(find('#say-note'), sentence(refusal))
  }
  drawSoon()
}

/** Reads the reactions to the last messages again. Changes aren't repeated after a lost connection. */
async function readReactions(talk) {
  if (!talk?.messages || talk.isKept) return
  const page = await api.get(`/conversations/${talk.id}/messages`, { before: talk.received + 1, limit: PAGE }).catch(() => null)
  if (page) talk.takeReactions(page)
  drawSoon()
}

const reading = new Set()

/** Reads of a conversation, one at a time. */
async function readPages(talk, query, take) {
  if (!talk || reading.has(talk.id)) return
  reading.add(talk.id)
  try {
    let isMore = true
    while (isMore) isMore = take(await api.get(`/conversations/${talk.id}/messages`, query()))
    talk.trouble = null
  } catch (refusal) {
    talk.trouble = refusal
  }
  reading.delete(talk.id)
  drawSoon()
}

/** Reads the missed messages. */
const readOn = talk => talk.isKept ? readMore(talk) : readPages(talk, () => ({ after: talk.received }), page => {
  if (talk.append(page)) announce(talk, talk.messages.at(-1))
  return page.messages.length > 0 && talk.received < talk.lastOffset
})

/** Reads the last messages, or those before the messages known. */
async function readMore(talk) {
  if (talk.messages && !talk.hasEarlier) return readOn(talk)
  const before = (talk.isKept ? undefined : talk.messages?.[0]?.offset) ?? talk.lastOffset + 1
  await readPages(talk, () => ({ before, limit: PAGE }), page => talk.prepend(page, before))
  if (talk.messages && !talk.isKept && talk.received < talk.lastOffset) readOn(talk)
}

/** Conversations that are about to be marked as read. */
const marking = new Set()

const isSeen = talk => talk === thread.talk && !document.hidden

/** Marks visible messages as read. */
function markRead(talk) {
  if (!talk?.messages || !isSeen(talk) || talk.isKept || talk.received < talk.lastOffset || talk.lastOffset <= talk.readOffset) return
  if (marking.has(talk.id)) return
  marking.add(talk.id)
  const end = () => {
    marking.delete(talk.id)
    drawSoon()
  }
  const seen = talk.received
  setTimeout(() => {
    // If the user has turned away by now, newer messages aren't marked as read.
    const offset = isSeen(talk) ? talk.received : seen
    api.post(`/conversations/${talk.id}/read`, { offset }).then(() => {
      talk.readOffset = Math.max(talk.readOffset, offset)
      end()
    }, () => setTimeout(end, 5_000))
  }, 300)
}

find('#mute').onclick = async () => {
  const { talk } = thread
  try {
    talks.takeOne(await api.post(`/conversations/${talk.id}/mute`, { muted: !talk.muted }))
    setText(find('#status'), talk.muted ? 'Muted.' : 'No longer muted.')
  } catch (refusal) {
    setText(find('#say-note'), sentence(refusal))
  }
  drawSoon()
}

find('#leave').onclick = () => {
  setText(find('#sure-text'), thread.talk.type === 'person'
    ? 'The conversation disappears from your list. The next message from either of you brings it back.'
    : 'You receive no further messages. You can still read the earlier messages.')
  setText(find('#sure-error'), '')
  find('#sure').showModal()
}

find('#do-leave').onclick = async () => {
  const { talk } = thread
  try {
    const state = await api.post(`/conversations/${talk.id}/leave`, {})
    if (talk.type === 'person') talks.drop(talk.id)
    else talks.takeOne(state)
    find('#sure').close()
    setText(find('#status'), 'You have left.')
    if (talk.type === 'person') location.hash = ''
    drawSoon()
  } catch (refusal) {
    setText(find('#sure-error'), sentence(refusal))
  }
}

// Sending

const outgoing = new Outbox(deviceId, outbox, body => api.request('POST', '/messages', body), {
  changed: () => drawSoon(),
  stored(messages) {
    // The message also arrives by the socket, perhaps later.
    for (const message of messages) {
      if (!talks.get(message.conversation)) continue
      const { talk, outcome } = talks.receive({ message })
      if (outcome === 'gap') readOn(talk)
    }
  },
})

const make = new MakeDialog({
  names: async prefix => (await api.get('/users', { prefix })).users,
  async make(participants, id) {
    const talk = talks.takeOne(await api.post('/conversations', { participants, id }))
    location.hash = talk.id
  },
  send(conversations, content) {
    location.hash = ''
    outgoing.add(conversations, content)
    setText(find('#status'), `Sending to ${conversations.length} conversation${conversations.length === 1 ? '' : 's'}.`)
  },
})

find('#new').onclick = () => make.open(me, talks.all.filter(talk => !talk.hasLeft(me)))

// The name

function askName() {
  me = null
  shelf.clear()
  document.body.dataset.view = 'name'
  find('#own-name').focus()
}

find('#name-form').addEventListener('submit', async event => {
  event.preventDefault()
  const name = find('#own-name').value.trim()
  setText(find('#name-error'), isName(name) ? '' : 'A name is 1 to 32 letters (A to Z), digits, _ or -.')
  if (!isName(name)) return
  try {
    await api.post('/users', { name })
    await loadList()
  } catch (refusal) {
    if (refusal.code === 'has_name') return loadList()
    setText(find('#name-error'), refusal.code === 'name_taken' ? 'Somebody else has this name. Please choose another.' : sentence(refusal))
  }
})

// The ticket

function askTicket(refusal) {
  me = null
  showTicketForm(refusal, pass)
}

// The view

const inbox = new Inbox()

/** Shows the conversation in the address, or none. */
async function route() {
  if (me === null) return
  const id = location.hash.slice(1).toUpperCase()
  // An older conversation may be on a later page of the list.
  while (id && !talks.get(id) && talks.next) if (!await loadList(true)) break
  const left = thread.talk
  const talk = talks.get(id) ?? null
  if (id && !talk) return location.replace('#')
  document.body.dataset.view = talk ? 'talk' : 'list'
  if (talk === left && talk) return
  thread.open(talk, me)
  draw()
  if (!talk) return left && inbox.focus(left.id)
  if (talk.messages) {
    readOn(talk)
    readReactions(talk)
  } else readMore(talk)
  find(matchMedia('(pointer: coarse)').matches || talk.hasLeft(me) ? '#title' : '#content').focus()
}

let isDue = false
/** Draws the page once for many changes. */
function drawSoon() {
  if (isDue) return
  isDue = true
  setTimeout(() => {
    isDue = false
    draw()
  }, 20)
}

function draw() {
  if (document.body.dataset.view === 'ticket') return
  document.body.dataset.link = link
  const parts = []
  if (!navigator.onLine) parts.push('You are offline. Your messages are sent when you are online again.')
  else if (link === 'lost' || me && trouble && isPassing(trouble)) parts.push('The server can’t be reached. Trying again…')
  if (me && !isListed && (trouble || !navigator.onLine)) parts.push('You see what this browser has saved.')
  if (!isRemembered) parts.push('This browser saves nothing. You can use your name only while this page is open.')
  if (me === null && trouble && trouble.code !== 'name_required') parts.push(sentence(trouble))
  setText(find('#banner'), parts.join(' '))
  if (me === null) return
  setText(find('#trouble'), trouble && !(link === 'lost' || trouble.status === 0) ? sentence(trouble) : '')
  const { talk } = thread
  markRead(talk)
  setText(find('#me b'), me)
  find('#me').hidden = false
  inbox.draw(talks.all, me, document.body.dataset.view === 'talk' ? talk?.id : null, hereIn)
  find('#empty').hidden = talks.all.length > 0
  find('#more').hidden = !talks.next
  thread.draw(me, talk ? outgoing.in(talk.id) : [], talk ? hereIn(talk) : [])
  const unread = talks.all.reduce((sum, one) => sum + (one.muted || one === talk ? 0 : one.unread(me)), 0)
  document.title = `${unread ? `(${unread}) ` : ''}Conversations`
  if (isListed) keepSoon()
}

let keeping = null
/** Caches what is known, for use without a network. */
function keepSoon() {
  keeping ??= setTimeout(() => {
    keeping = null
    if (me) shelf.set(deviceId, me, talks.kept)
  }, 1_000)
}

// Start

find('#talk').addEventListener('keydown', event => { if (event.key === 'Escape' && !isWriting(event)) location.hash = '' })
addEventListener('hashchange', () => {
  if (ticketIn(location.hash).ticket) location.reload()
  else route()
})
addEventListener('online', () => {
  drawSoon()
  outgoing.pump()
  if (trouble) loadList()
})
addEventListener('offline', drawSoon)
document.addEventListener('visibilitychange', drawSoon)
// Another tab has changed the device or the outbox.
addEventListener('storage', ({ key }) => {
  if (key === 'device' || key === 'ticket') location.reload()
  if (!key?.startsWith('outbox/')) return
  drawSoon()
  // The other tab sends it, unless it is closed.
  setTimeout(() => outgoing.pump(), 5_000)
})
const kept = shelf.get(deviceId)
if (kept) {
  talks.restore(kept.talks)
  // The conversation in the address may be newer than the cached list.
  const asked = location.hash.slice(1).toUpperCase()
  if (!asked || talks.get(asked)) {
    me = kept.me
    route()
  }
}
loadList()
keepPage()
