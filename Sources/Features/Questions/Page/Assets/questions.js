// A live question session, for the audience and the presenter.
const find = selector => document.querySelector(selector)
const stamp = name => find(`template#${name}`).content.firstElementChild.cloneNode(true)
const { role, session, moderated } = document.body.dataset
const presents = role === 'presenter'
const path = `/questions/${session}`
const memory = new Map()

/** What this browser stores; if it isn't allowed to, kept until the page is closed. */
function recall(key) {
  try { return localStorage.getItem(key) ?? memory.get(key) ?? null } catch { return memory.get(key) ?? null }
}
function remember(key, value) {
  memory.set(key, value)
  try { localStorage.setItem(key, value) } catch { /* until the page goes */ }
}
function newDevice() {
  if (crypto.randomUUID) return crypto.randomUUID().toUpperCase()
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = bytes[6] & 0x0F | 0x40
  bytes[8] = bytes[8] & 0x3F | 0x80
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('').toUpperCase()
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
}
function setText(element, text, isBad = false) {
  if (element.textContent !== text) element.textContent = text
  element.classList.toggle('bad', isBad)
}

// A ticket in the link identifies the person; otherwise the browser's stored device does, also that of the day page.
const query = new URLSearchParams({ live: 'true' })
const ticket = new URLSearchParams(location.search).get('token')
if (ticket) query.set('token', ticket)
else {
  if (!recall('device')) remember('device', newDevice())
  query.set('deviceId', recall('device'))
}

// --- What is known ---------------------------------------------------------------------------------------------

let questions = new Map()
/** The list that is being received after a connection. It replaces the old one when it is complete. */
let incoming = null
let state = document.body.dataset.state
let myId = null
let isLive = false
const kept = name => new Map(JSON.parse(recall(`${name}:${session}`) ?? '[]'))
const keep = (name, map) => remember(`${name}:${session}`, JSON.stringify([...map].slice(-200)))
const votes = kept('votes')
/** The person's own questions: their text by id. In a moderated session others see them only once they are approved. */
const own = kept('own')

// --- The socket ------------------------------------------------------------------------------------------------

let socket = null
let tries = 0
let timer = null

function connect() {
  clearTimeout(timer)
  const opened = socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${path}/socket?${query}`)
  const timeout = setTimeout(() => opened.close(), 10_000)
  opened.binaryType = 'arraybuffer'
  opened.onmessage = ({ data }) => {
    if (opened !== socket) return
    const message = JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data))
    if (message.type === 'handshake') {
      clearTimeout(timeout)
      tries = 0
    }
    receive(message)
  }
  opened.onclose = () => {
    clearTimeout(timeout)
    if (opened !== socket) return
    socket = null
    isLive = false
    lost = [...lost, ...given.splice(0)].filter(({ at }) => at > Date.now() - doubtful).slice(-mostGiven)
    settle({ success: false, message: 'The connection was lost. Your question may not have arrived.' })
    setText(find('#link'), 'Not connected. Trying again…', true)
    setText(find('#here'), '')
    // Randomly up to half shorter, so that an audience doesn't reconnect at one moment.
    const wait = Math.min(15_000, 500 * 2 ** Math.min(tries++, 10))
    if (tries > 1) ask().then(atLeast => retry(atLeast + wait * (1 + Math.random()) / 2))
    else retry(wait * (1 + Math.random()) / 2)
  }
}
const retry = wait => { if (wait < Infinity) timer = setTimeout(connect, wait) }

/** Finds out why there is no socket: a plain request to the same address shows a status. Returns the minimum wait in milliseconds. */
async function ask() {
  try {
    const answer = await fetch(`${path}/socket?${query}`, { cache: 'no-store', signal: AbortSignal.timeout(10_000) })
    const reply = await answer.json().catch(() => ({}))
    if ([400, 401, 403, 404].includes(answer.status)) {
      setText(find('#link'), reply.reason ?? 'This session can’t be entered.', true)
      return Infinity
    }
    if (reply.reason && answer.status !== 426) setText(find('#link'), reply.reason, true)
    return 1_000 * Math.min(3_600, Number.parseInt(answer.headers.get('Retry-After') ?? '0', 10) || 0)
  } catch {
    return 0
  }
}
addEventListener('online', () => { if (!socket) { tries = 0; connect() } })
addEventListener('offline', () => socket?.close())

function send(message) {
  if (!isLive || socket?.readyState !== WebSocket.OPEN) return false
  socket.send(JSON.stringify(message))
  return true
}

function receive(message) {
  switch (message.type) {
    case 'handshake':
      myId = message.id
      incoming = new Map()
      break
    case 'questions':
      for (const question of message.questions) incoming?.set(question.id, question)
      if (message.more || !incoming) break
      questions = incoming
      incoming = null
      isLive = true
      setText(find('#link'), 'Live')
      break
    case 'question':
      (incoming ?? questions).set(message.question.id, message.question)
      if (incoming) questions.set(message.question.id, message.question)
      break
    case 'questionRemoved':
      questions.delete(message.questionId)
      incoming?.delete(message.questionId)
      break
    case 'session':
      if (state !== message.state) setText(find('#status'), message.state === 'closed' ? 'The session is closed.' : 'The session is open.')
      state = message.state
      // This message also follows the list.
      if (isLive) voteAgain()
      break
    case 'presence':
      // The presenter is included in the count.
      if (presents) setText(find('#here'), `${message.data.count} here`)
      return
    case 'announcement':
      find('#announcement p').textContent = message.content
      find('#announcement').hidden = false
      break
    case 'questionResponse': settle(message); break
    case 'questionAnswer': setText(find('#status'), 'Your question was answered.'); break
    case 'error':
      setText(presents ? find('#tool-note') : find('#ask-note'), message.reason, true)
      takeBack()
      break
  }
  drawSoon()
}

// --- Asking and voting -----------------------------------------------------------------------------------------

let asked = null

find('#ask').addEventListener('submit', event => {
  event.preventDefault()
  const content = find('#content').value.trim()
  if (!content || asked !== null) return
  if (!send({ type: 'newQuestion', id: myId, content })) return setText(find('#ask-note'), 'Not connected. Please try again.', true)
  asked = content
  setText(find('#ask-note'), 'Sending…')
  drawSoon()
})

function settle({ success, message, id }) {
  if (asked === null) return
  if (success) {
    own.set(id, asked)
    keep('own', own)
    find('#content').value = ''
  }
  setText(find('#ask-note'), success && moderated === 'true' ? 'Received. Others see it once it is approved.' : message, !success)
  asked = null
  drawSoon()
}

/** Votes of this connection that may still be refused, the newest last. The server doesn't confirm accepted votes. */
const given = []
/** Votes of lost connections, which may or may not have arrived. */
let lost = []
const mostGiven = 20
/** Milliseconds after which a dead connection is known to be lost. */
const doubtful = 300_000

function vote(id, isFor, at = Date.now()) {
  if (!send({ type: isFor ? 'vote' : 'unvote', questionId: id })) return
  given.push({ id, isFor, at })
  if (given.length > mostGiven) given.shift()
  mark(id, isFor)
}

function mark(id, isFor) {
  if (isFor) votes.set(id, 1)
  else votes.delete(id)
  keep('votes', votes)
  drawSoon()
}

/** An error refuses a vote; a question has its own answer. */
function takeBack() {
  const last = given.pop()
  if (last) mark(last.id, !last.isFor)
}

/** Applies the shown votes; repeats change nothing. */
function voteAgain() {
  const last = new Map(lost.map(({ id, at }) => [id, at]))
  lost = []
  if (state === 'open') for (const [id, at] of last) if (questions.has(id)) vote(id, votes.has(id), at)
}

// --- Presenting ------------------------------------------------------------------------------------------------

/** Returns whether the action succeeded; if not, the page shows why. */
async function post(where, body = {}) {
  const note = find('#tool-note')
  try {
    const answer = await fetch(where, {
      method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(15_000),
    })
    const reply = await answer.json().catch(() => ({}))
    setText(note, answer.ok ? '' : reply.reason ?? `The server answered with status ${answer.status}.`, !answer.ok)
    return answer.ok ? reply : null
  } catch {
    setText(note, 'No answer from the server. Please try again.', true)
    return null
  }
}

find('#announce').addEventListener('submit', async event => {
  event.preventDefault()
  const content = find('#words').value.trim()
  if (!content) return
  const reply = await post(`${path}/announce`, { content, to: 'all' })
  if (!reply) return
  find('#words').value = ''
  setText(find('#tool-note'), `Sent to ${reply.sent} ${reply.sent === 1 ? 'connection' : 'connections'}.`)
})
find('#toggle').addEventListener('click', async () => {
  const reply = await post(`${path}/${state === 'open' ? 'close' : 'open'}`)
  if (reply?.state) state = reply.state
  drawSoon()
})
find('#announcement button').addEventListener('click', () => {
  find('#announcement').hidden = true
  find('h1').focus()
})

const done = { approve: 'Approved.', dismiss: 'Dismissed.', reopen: 'Reopened.', answer: 'Answered.' }

async function moderate(id, action, body) {
  const reply = await post(`/questions/${id}/${action}`, body)
  if (!reply) return false
  setText(find('#status'), done[action])
  if (reply.id) questions.set(reply.id, reply)
  drawSoon()
  return true
}

function writeAnswer(row, id) {
  const form = stamp('answer')
  const end = () => {
    form.remove()
    row.querySelector('.do').hidden = false
    row.querySelector('.do button')?.focus()
  }
  form.addEventListener('submit', async event => {
    event.preventDefault()
    const answer = form.querySelector('textarea').value.trim()
    if (await moderate(id, 'answer', answer ? { answer } : {})) end()
  })
  form.querySelector('[type=button]').addEventListener('click', end)
  form.addEventListener('keydown', event => event.key === 'Escape' && end())
  row.querySelector('.do').hidden = true
  row.querySelector('.words').append(form)
  form.querySelector('textarea').focus()
}

// --- Drawing ---------------------------------------------------------------------------------------------------

const isOpen = question => question.state === 'approved' && !question.answered
const sections = [
  { title: presents ? 'Waiting for approval' : 'Your questions, waiting for approval', has: question => question.state === 'pending', actions: ['approve', 'dismiss'] },
  { title: 'Questions', has: isOpen, actions: ['answer', 'dismiss'] },
  { title: 'Answered', has: question => question.state === 'approved' && question.answered, actions: ['reopen'] },
  ...presents ? [{ title: 'Dismissed', has: question => question.state === 'dismissed', actions: ['reopen'] }] : [],
]
const words = { approve: 'Approve', dismiss: 'Dismiss', reopen: 'Reopen', answer: 'Answer' }
const rows = new Map()

for (const section of sections) {
  section.element = stamp('section')
  section.element.querySelector('h2').textContent = section.title
  section.list = section.element.querySelector('ol')
  find('#lists').append(section.element)
}

let isDue = false
/** Draws the page once for many changes. */
function drawSoon() {
  if (isDue) return
  isDue = true
  setTimeout(() => { isDue = false; draw() }, 30)
}

function rowOf(question) {
  const known = rows.get(question.id)
  if (known) return known
  const row = stamp('question')
  row.dataset.question = question.id
  const button = row.querySelector('.vote')
  button.disabled = presents
  button.addEventListener('click', () => vote(question.id, !votes.has(question.id)))
  rows.set(question.id, row)
  return row
}

function fill(row, question, section) {
  const [count, unit] = row.querySelector('.vote').children
  setText(count, `${question.votes}`)
  setText(unit, question.votes === 1 ? 'vote' : 'votes')
  const button = row.querySelector('.vote')
  const label = `${question.votes} ${question.votes === 1 ? 'vote' : 'votes'} for: ${question.content.slice(0, 80)}`
  if (button.ariaLabel !== label) button.ariaLabel = label
  button.disabled = presents || !isLive || state !== 'open' || !isOpen(question)
  button.ariaPressed = `${votes.has(question.id)}`
  setText(row.querySelector('.content'), question.content)
  setText(row.querySelector('.answer'), question.answer ?? '')
  row.classList.toggle('own', own.has(question.id))
  setText(row.querySelector('.tags'), own.has(question.id) ? 'Your question' : '')
  const actions = presents && state === 'open' ? section.actions : []
  const box = row.querySelector('.do')
  if (box.dataset.actions === actions.join()) return
  box.dataset.actions = actions.join()
  box.replaceChildren(...actions.map(action => {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = action === 'dismiss' ? 'plain' : 'primary'
    button.textContent = words[action]
    button.ariaLabel = `${words[action]}: ${question.content.slice(0, 80)}`
    button.addEventListener('click', () => action === 'answer' ? writeAnswer(row, question.id) : moderate(question.id, action))
    return button
  }))
}

function arrange(list, wanted) {
  wanted.forEach((row, place) => {
    if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null)
  })
  while (list.children.length > wanted.length) list.lastElementChild.remove()
}

function draw() {
  const focus = document.activeElement
  const focused = focus?.closest('[data-question]')
  const all = [...questions.values()]
  if (!presents) {
    for (const [id, content] of own) {
      if (moderated === 'true' && !questions.has(id) && isLive) all.push({ id, content, votes: 0, state: 'pending', answered: false })
    }
  }
  const byVotes = (one, other) => other.votes - one.votes || (one.askedAt < other.askedAt ? -1 : one.askedAt > other.askedAt ? 1 : 0)
  for (const section of sections) {
    const members = all.filter(section.has)
    if (section.has === isOpen) members.sort(byVotes)
    section.element.hidden = members.length === 0
    arrange(section.list, members.map(question => {
      const row = rowOf(question)
      fill(row, question, section)
      return row
    }))
  }
  const ids = new Set(all.map(question => question.id))
  for (const id of rows.keys()) if (!ids.has(id)) rows.delete(id)
  // A moved element loses the focus, so it is given back, or goes to the element in its place.
  if (focused && document.activeElement === document.body) {
    const next = focus.isConnected && !focus.disabled ? focus : focused.isConnected && focused.querySelector('button:enabled')
    ;(next || find('h1')).focus({ preventScroll: true })
  }
  find('#empty').hidden = all.length > 0 || !isLive
  setText(find('#state'), state === 'open' ? moderated === 'true' ? 'moderated' : '' : 'closed')
  setText(find('#toggle'), state === 'open' ? 'Close the session' : 'Reopen the session')
  find('#content').disabled = state !== 'open'
  find('#ask button').disabled = state !== 'open' || !isLive || asked !== null
}

draw()
connect()
