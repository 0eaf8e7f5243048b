// The page: connects its modules.
import { alertState, allowAlerts, keepSubscription, notify, startWorker, unsubscribe } from './alerts.js'
import { Api } from './api.js'
import { ServerClock } from './clock.js'
import { DayView, asOfText } from './day.js'
import { firstDevice } from './device.js'
import { DeviceDialog, TaskDialog } from './dialogs.js'
import { find, setText, show } from './dom.js'
import { AcceptDialog, InvitationDialog, invitationIn } from './invitations.js'
import { PartnerTalk } from './partner.js'
import { PastDialog } from './past.js'
import { TaskActions } from './promises.js'
import { quoted } from './quote.js'
import { Backoff, Pace } from './retry.js'
import { RoomView } from './room.js'
import { SeriesDialog, rhythmOf } from './series.js'
import { shareStream } from './share.js'
import { newlyPaired, nextTask, slotsOf, stateOf } from './slots.js'
import * as store from './store.js'
import { Stream } from './stream.js'
import { clockFace, dayOf, isoOf, midnight, spanOf } from './time.js'
import { loadingSentence, sentence } from './words.js'
import { clockOffset, known, offsetName, zoneName, zoneOf, zones } from './zone.js'

const { lead, roomDuration, lateJoin } = document.documentElement.dataset
const clock = new ServerClock()
const browserZone = () => known(Intl.DateTimeFormat().resolvedOptions().timeZone)
/** Without a zone of the browser's, the person chooses one. Until then it is one with the offset of the browser's clock. */
const zoneNow = () => browserZone() ?? known(store.zone.get()) ?? zoneOf(clockOffset())
const zone = zoneNow()
const settings = { clock, zone, lead: lead * 1000, roomDuration: roomDuration * 1000, lateJoin: lateJoin * 1000 }
const device = firstDevice(store.device.get())
const isRemembered = store.device.set(device)
const api = new Api(clock, device)

let day = dayOf(clock.now(), zone)
let today = day
let slots = []
let asOf = null
/** When the day shown became possibly outdated, by the local clock; `null` while it is current. */
let staleSince = Date.now()
let trouble = null
let link = 'waiting'
let loading = null

// The day

const dayView = new DayView(settings, {
  chose(slot, state) {
    note('')
    if (state === 'room') enter(slot.startsAt)
    else taskDialog.open(slot, state, dayOf(slot.startsAt, zone))
  },
  choseDay(date) {
    note('')
    showDay(date)
  },
})

let sharing = null

function showDay(date) {
  day = date
  sharing?.show(spanOf(day, zone))
  const kept = store.days.get(date, zone)
  slots = slotsOf(kept?.answer, date, zone)
  asOf = kept?.asOf ?? null
  staleSince = Date.now()
  trouble = null
  render()
  return load()
}

const patience = new Backoff({ first: 1_000 })
const pace = new Pace()
let reloading
let again = null

let latest = null
/** Reads the day. Resolves when it is answered or refused. Simultaneous callers all get the last answer. */
const load = () => latest = ask()

async function ask() {
  const wanted = day
  pace.asked(performance.now())
  clearTimeout(reloading)
  const mine = loading = api.get('/schedule', { date: isoOf(midnight(wanted, zone)), timeZone: zone })
  try {
    const answer = await mine
    if (mine !== loading) return latest
    store.days.set(wanted, zone, answer, clock.now())
    const before = slots
    slots = slotsOf(answer, wanted, zone)
    announce(newlyPaired(before, slots))
    asOf = clock.now()
    staleSince = trouble = null
    patience.reset()
    clearTimeout(again)
  } catch (refusal) {
    if (mine !== loading) return latest
    staleSince ??= Date.now()
    trouble = refusal
    clearTimeout(again)
    again = setTimeout(load, patience.next(refusal.wait))
  }
  render()
  // The current partners.
  if (!trouble) partnerTalk.refresh()
}

function announce(paired) {
  if (paired) setText(find('#status'), `You have a partner at ${paired.time}: they will start ${quoted(paired.partner)}.`)
}

/** Reads the day when it is time: soon after changes of the user's own tasks, later after others. */
function reloadSoon(isOwn = true) {
  const wait = pace.next(performance.now(), isOwn)
  if (wait === null) return
  clearTimeout(reloading)
  reloading = setTimeout(load, wait)
}

function changed(startsAt) {
  if (dayOf(startsAt, zone) === day) reloadSoon(!!ownSlot(startsAt))
}

function render() {
  const now = clock.now()
  const before = today
  today = dayOf(now, zone)
  // At midnight, or after the clock was corrected.
  if (today !== before && day === before) return void showDay(today)
  dayView.showDays(today, day)
  const isStale = staleSince !== null && asOf !== null
  dayView.show(slots, now, isStale)
  renderBanner(isStale)
  if (reminded !== null && now >= reminded) showReminder(null)
  const open = taskDialog.slot && slots.find(slot => slot.startsAt === taskDialog.slot.startsAt)
  if (open) taskDialog.update(open, stateOf(open, now, settings))
  const shown = room.isShown && slots.find(slot => slot.startsAt === room.startsAt && slot.isOwn)
  if (shown) room.update(shown)
  partnerTalk.show('#next-talk', nextTask(slots, now, settings))
  partnerTalk.show('#room-talk', shown)
}

function renderBanner(isStale) {
  const isAway = !navigator.onLine || link === 'lost'
  const parts = []
  if (!navigator.onLine) parts.push('You are offline.')
  else if (link === 'lost') parts.push('The server can’t be reached. Trying again…')
  // An ordinary answer arrives sooner.
  if (isStale && Date.now() - staleSince > 1500) parts.push(`You see the day ${asOfText(asOf, zone)}.`)
  if (!isRemembered) parts.push('This browser saves nothing. You can use your tasks only while this page is open.')
  setText(find('#banner'), parts.join(' '))
  setText(find('#trouble'), trouble && !(isAway && trouble.status === 0) ? loadingSentence(trouble) : '')
  document.body.dataset.link = isAway ? 'lost' : link
}

function tick() {
  render()
  setTimeout(tick, 1000 - clock.now() % 1000 + 5)
}

/** Shows an error where it is visible, until the user continues. */
const note = text => setText(find('#note'), text)

// The partner

const partnerTalk = new PartnerTalk(api, device, ['#next-talk', '#room-talk'])

// Tasks

const series = new SeriesDialog(api, settings, { changed: () => load() })
new PastDialog(api, settings)
const taskActions = new TaskActions(api, settings, () => load())

const invitations = new InvitationDialog()
/** What to show when the task is registered. */
let invitation = null

const taskDialog = new TaskDialog({
  async register(slot, title, options) {
    const { text, invitation: link } = await taskActions.register(slot, title, options)
    invitation = link && { link, title }
    renderAlerts()
    if (options.days.length) series.load()
    return text
  },
  cancel: slot => taskActions.cancel(slot),
  leave: slot => taskActions.leave(slot),
  move: (slot, title, startsAt) => taskActions.move(slot, title, startsAt),
  targets: slot => slots.filter(other => other.startsAt !== slot.startsAt && ['free', 'somebody'].includes(stateOf(other, clock.now(), settings))),
  rhythm: slot => {
    const own = series.of(slot.id)
    return own && rhythmOf(own)
  },
  done(text, slot) {
    setText(find('#status'), text)
    if (invitation) invitations.open(invitation.link, invitation.title, slot.time)
    invitation = null
    // A user who joins late enters the room at once.
    if (clock.now() >= slot.startsAt && ownSlot(slot.startsAt)) enter(slot.startsAt)
  },
  failed: note,
})

const acceptDialog = new AcceptDialog(api, settings, {
  accepted(startsAt, text) {
    setText(find('#status'), text)
    showDay(dayOf(startsAt, zone))
  },
  closed() { location.replace('#') },
})

// Reminders

const streamHandlers = {
  live() {
    link = 'live'
    load()
    series.load()
    keepSubscription(api, device).then(renderAlerts)
  },
  lost() {
    link = 'lost'
    staleSince ??= Date.now()
    render()
  },
  event(name, data) {
    if (name === 'schedule') changed(Date.parse(JSON.parse(data).startsAt))
    if (name === 'reminder') remind(JSON.parse(data))
    if (name === 'rematched') rematched(JSON.parse(data))
  },
}

/** The start of the task whose reminder is shown. */
let reminded = null

function remind(reminder) {
  reloadSoon()
  const startsAt = Date.parse(reminder.startsAt)
  if (room.startsAt === startsAt) return
  setText(find('#reminder-text'), `${quoted(reminder.title)} at ${clockFace(startsAt, zone)}. `
    + (reminder.partnerTask ? `Your partner will start ${quoted(reminder.partnerTask)}.` : 'It starts in a moment.'))
  find('#reminder-enter').onclick = () => enter(startsAt)
  if (document.hidden) notify(reminder)
  showReminder(startsAt)
}

function showReminder(startsAt) {
  reminded = startsAt
  show(find('#reminder'), startsAt !== null)
}

find('#reminder-close').onclick = () => showReminder(null)

const ALERTS = {
  impossible: 'You get reminders while this page is open. (Browsers show notifications on https only, and not in every window.)',
  ask: 'You get reminders while this page is open.',
  blocked: 'Your browser blocks notifications from this page. You get reminders while you look at it.',
  open: 'You get notifications while this page is open.',
  closed: 'You get notifications, even when this page is closed.',
}

async function renderAlerts() {
  const state = await alertState(device)
  setText(find('#alerts-status'), ALERTS[state])
  show(find('#alerts'), state === 'ask')
}

find('#alerts').onclick = async () => {
  await allowAlerts(api, device)
  renderAlerts()
}

// The room

const room = new RoomView(api, settings, {
  rematched,
  seek: slot => taskActions.seek(slot),
  left: slot => taskActions.leave(slot).then(text => {
    location.hash = ''
    setText(find('#status'), text)
  }, refusal => setText(find('#news'), sentence(refusal, slot.time))),
})

const enter = startsAt => { location.hash = `#room/${isoOf(startsAt)}` }

/** Continues in another room, because the partner or the user was absent. The day shows it a little later. */
function rematched({ taskId, roomId, partnerTask }) {
  const why = partnerTask === undefined
    ? 'You weren’t in the room, so your partner was matched with somebody else. Somebody may still join you.'
    : `Your partner didn’t come. Your new partner will start ${quoted(partnerTask)}.`
  slots = slots.map(slot => slot.isOwn && slot.id === taskId
    ? { ...slot, room: roomId, hasOther: partnerTask !== undefined, partner: partnerTask ?? null } : slot)
  const shown = room.isShown && slots.find(slot => slot.id === taskId && slot.startsAt === room.startsAt)
  if (shown) room.update(shown, why)
  else note(why)
  load()
}

/** The start of the task whose room is in the address; `NaN` if there is none. */
const roomAsked = () => Date.parse(/^#room\/(.+)$/.exec(location.hash)?.[1])
const ownSlot = startsAt => slots.find(slot => slot.startsAt === startsAt && slot.isOwn)

/** Shows the day or the room in the address. `loaded` resolves with the day, if it is being read already. */
async function route(loaded = null) {
  const token = invitationIn(location.hash)
  if (token) acceptDialog.open(token)
  const startsAt = roomAsked()
  if (Number.isNaN(startsAt)) return leave()
  showReminder(null)
  note('')
  if (dayOf(startsAt, zone) !== day) loaded = showDay(dayOf(startsAt, zone))
  if (!ownSlot(startsAt)) {
    await (loaded ?? load())
    // The user may have left or been matched again meanwhile.
    if (roomAsked() !== startsAt) return
  }
  const slot = ownSlot(startsAt)
  if (slot) return room.enter(slot)
  const time = clockFace(startsAt, zone)
  note(trouble ? `The room at ${time} can’t be found now.` : `You have no task at ${time}.`)
  location.replace('#')
}

function leave() {
  const left = slots.find(slot => slot.startsAt === room.startsAt)
  const wasShown = room.isShown
  room.leave()
  document.title = 'Let’s Switch'
  if (wasShown) dayView.focus(left?.key)
}

find('#leave').onclick = () => { location.hash = '' }

// The device

new DeviceDialog(device, {
  async become(other) {
    await unsubscribe(api, device)
    store.device.set(other)
    store.days.clear()
    store.clearTalks()
    location.reload()
  },
  async erase() {
    await api.delete('/device')
    await unsubscribe(api, device)
    store.device.set('')
    store.days.clear()
    store.clearTalks()
    location.reload()
  },
})

// Start

setText(find('#zone'), zoneName(zone))
if (!browserZone()) {
  const select = find('#zones')
  select.append(new Option(`${offsetName(clockOffset())} (your browser’s clock)`, ''), ...zones().map(name => new Option(zoneName(name), name)))
  select.value = known(store.zone.get()) ?? ''
  find('#use-zone').onclick = () => {
    store.zone.set(select.value || null)
    location.reload()
  }
  show(find('#zone-choice'), true)
}
addEventListener('hashchange', () => route())
addEventListener('online', render)
addEventListener('offline', render)
// Another tab has changed the device or the zone.
addEventListener('storage', ({ key }) => { if (key === 'device' || key === 'zone') location.reload() })
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return
  // In another time zone all hours change.
  if (zoneNow() !== zone) location.reload()
  else reloadSoon()
})
navigator.serviceWorker?.addEventListener('message', ({ data }) => { if (data.target) location.hash = data.target.slice(2) })
route(showDay(day))
tick()
sharing = shareStream((handlers, span) => new Stream(api, device, handlers, span), streamHandlers, undefined, spanOf(day, zone))
startWorker()
renderAlerts()
