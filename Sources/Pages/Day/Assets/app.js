// The page: puts the parts together.
import { alertState, allowAlerts, keepSubscription, notify, startWorker, unsubscribe } from './alerts.js'
import { Api } from './api.js'
import { ServerClock } from './clock.js'
import { DayView, asOfText } from './day.js'
import { firstDevice } from './device.js'
import { DeviceDialog, PromiseDialog } from './dialogs.js'
import { find, say, show } from './dom.js'
import { PartnerTalk } from './partner.js'
import { quoted } from './quote.js'
import { Backoff, Pace } from './retry.js'
import { RoomView } from './room.js'
import { shareStream } from './share.js'
import { newlyPaired, nextTask, slotsOf, stateOf } from './slots.js'
import * as store from './store.js'
import { Stream } from './stream.js'
import { clockFace, dayOf, isoOf, midnight, spanOf } from './time.js'
import { loadingSentence } from './words.js'

const { lead, roomDuration } = document.documentElement.dataset
const clock = new ServerClock()
const settings = { clock, lead: lead * 1000, roomDuration: roomDuration * 1000 }
const zoneNow = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
const zone = zoneNow()
const api = new Api(clock)
const device = firstDevice(store.device.get())
const isRemembered = store.device.set(device)

let day = dayOf(clock.now(), zone)
let today = day
let slots = []
let asOf = null
/** When the day shown ceased to be known to be right, by the own clock; `null` while it is. */
let staleSince = Date.now()
let trouble = null
let link = 'waiting'
let loading = null

// The day

const dayView = new DayView(settings, {
  chose(slot, state) {
    note('')
    if (state === 'room') location.hash = `#room/${isoOf(slot.startsAt)}`
    else promise.open(slot, state, dayOf(slot.startsAt, zone))
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
/** Asks for the day; done when it is answered or refused. Of several askers at once, all get the last one's answer. */
const load = () => latest = ask()

async function ask() {
  const wanted = day
  pace.asked(performance.now())
  clearTimeout(reloading)
  const mine = loading = api.schedule(device, isoOf(midnight(wanted, zone)), zone)
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
    partnerTalk.refresh()
  } catch (refusal) {
    if (mine !== loading) return latest
    staleSince ??= Date.now()
    trouble = refusal
    clearTimeout(again)
    again = setTimeout(load, patience.next(refusal.wait))
  }
  render()
}

function announce(paired) {
  if (paired) say(find('#said'), `You have a partner at ${paired.time}: they will start ${quoted(paired.partner)}.`)
}

/** Asks for the day when it is time: soon for what is one's own, before long for the rest. */
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
  // At midnight, or when the clock was put right.
  if (today !== before && day === before) return void showDay(today)
  dayView.showDays(today, day)
  const isStale = staleSince !== null && asOf !== null
  dayView.show(slots, now, isStale)
  renderBanner(isStale)
  if (reminded !== null && now >= reminded) showReminder(null)
  const open = promise.slot && slots.find(slot => slot.startsAt === promise.slot.startsAt)
  if (open) promise.update(open, stateOf(open, now, settings))
  const shown = room.isShown && slots.find(slot => slot.startsAt === room.startsAt && slot.isOwn)
  if (shown) room.update(shown)
  partnerTalk.show('#next-talk', nextTask(slots, now, settings))
  partnerTalk.show('#room-talk', shown)
}

function renderBanner(isStale) {
  const isAway = !navigator.onLine || link === 'lost'
  const parts = []
  if (!navigator.onLine) parts.push('You are offline.')
  else if (link === 'lost') parts.push('The server is out of reach. Trying again…')
  // An ordinary answer is there sooner.
  if (isStale && Date.now() - staleSince > 1500) parts.push(`This is the day ${asOfText(asOf, zone)}.`)
  if (!isRemembered) parts.push('This browser keeps nothing: your promises stay yours for as long as this page is open.')
  say(find('#banner'), parts.join(' '))
  say(find('#trouble'), trouble && !(isAway && trouble.status === 0) ? loadingSentence(trouble) : '')
  document.body.dataset.link = isAway ? 'lost' : link
}

function tick() {
  render()
  setTimeout(tick, 1000 - clock.now() % 1000 + 5)
}

/** What went otherwise than a person wished, where it can be seen; until they go on. */
const note = text => say(find('#note'), text)

// The partner

const partnerTalk = new PartnerTalk(api, device, ['#next-talk', '#room-talk'])

// Promises

const taskOf = (slot, title) => ({ deviceId: device, title, startsAt: isoOf(slot.startsAt), timeZone: zone })

/** What a request gives, once the day shows it. The day is asked for also after a no, or a silence that may have been a yes. */
async function heeded(request) {
  try {
    const answer = await request
    await load()
    return answer
  } catch (refusal) {
    load()
    throw refusal
  }
}

const promise = new PromiseDialog({
  async register(slot, title) {
    const task = await heeded(api.register(taskOf(slot, title)))
    renderAlerts()
    return task.isPaired
      ? `Promised. Your partner at ${slot.time} will start ${quoted(task.partnerTitle)}.` : `Promised: ${quoted(title)} at ${slot.time}.`
  },
  async cancel(slot) {
    await heeded(api.cancel(taskOf(slot, slot.title)))
    return `Taken back: ${quoted(slot.title)} at ${slot.time}.`
  },
  done(text) { say(find('#said'), text) },
  failed: note,
})

// Reminders

const heard = {
  live() {
    link = 'live'
    load()
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
  },
}

/** When the task begins whose reminder is shown. */
let reminded = null

function remind(reminder) {
  reloadSoon()
  const startsAt = Date.parse(reminder.startsAt)
  if (room.startsAt === startsAt) return
  say(find('#reminder-text'), `${quoted(reminder.title)} at ${clockFace(startsAt, zone)}. `
    + (reminder.partnerTask ? `Your partner will start ${quoted(reminder.partnerTask)}.` : 'It begins in a moment.'))
  find('#reminder-enter').onclick = () => { location.hash = `#room/${isoOf(startsAt)}` }
  if (document.hidden) notify(reminder)
  showReminder(startsAt)
}

function showReminder(startsAt) {
  reminded = startsAt
  show(find('#reminder'), startsAt !== null)
}

find('#reminder-close').onclick = () => showReminder(null)

const ALERTS = {
  impossible: 'Reminders come while this page is open. (Browsers show them outside of it on https only, and not in every window.)',
  ask: 'Reminders come while this page is open.',
  blocked: 'Your browser blocks notifications of this page; reminders come while you look at it.',
  open: 'Reminders come as notifications while this page is open.',
  closed: 'Reminders come as notifications, also when this page is closed.',
}

async function renderAlerts() {
  const state = await alertState(device)
  say(find('#alerts-said'), ALERTS[state])
  show(find('#alerts'), state === 'ask')
}

find('#alerts').onclick = async () => {
  await allowAlerts(api, device)
  renderAlerts()
}

// The room

const room = new RoomView(api, settings)

/** When the task is whose room the address names; `NaN` when it names none. */
const roomAsked = () => Date.parse(/^#room\/(.+)$/.exec(location.hash)?.[1])
const ownSlot = startsAt => slots.find(slot => slot.startsAt === startsAt && slot.isOwn)

/** Shows what the address names: the day, or a room. `loaded` is when the day is, if it is asked for already. */
async function route(loaded = null) {
  const startsAt = roomAsked()
  if (Number.isNaN(startsAt)) return leave()
  showReminder(null)
  note('')
  if (dayOf(startsAt, zone) !== day) loaded = showDay(dayOf(startsAt, zone))
  if (!ownSlot(startsAt)) {
    await (loaded ?? load())
    // One may have left, or gone on to another, meanwhile.
    if (roomAsked() !== startsAt) return
  }
  const slot = ownSlot(startsAt)
  if (slot) return room.enter(slot)
  const time = clockFace(startsAt, zone)
  note(trouble ? `The room of ${time} can’t be found just now.` : `There is no task of yours at ${time}.`)
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

// Who one is

new DeviceDialog(device, {
  async become(other) {
    await unsubscribe(api, device)
    store.device.set(other)
    store.days.clear()
    store.forgetTalks()
    location.reload()
  },
  async forget() {
    await api.request('DELETE', `/device?${new URLSearchParams({ deviceId: device })}`)
    await unsubscribe(api, device)
    store.device.set('')
    store.days.clear()
    store.forgetTalks()
    location.reload()
  },
})

// Begin

say(find('#zone'), zone.replaceAll('_', ' '))
addEventListener('hashchange', () => route())
addEventListener('online', render)
addEventListener('offline', render)
// Another tab has become another device.
addEventListener('storage', ({ key }) => { if (key === 'device') location.reload() })
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return
  // After a flight, all hours are others.
  if (zoneNow() !== zone) location.reload()
  else reloadSoon()
})
navigator.serviceWorker?.addEventListener('message', ({ data }) => { if (data.target) location.hash = data.target.slice(2) })
route(showDay(day))
tick()
sharing = shareStream((told, span) => new Stream(api, device, told, span), heard, undefined, spanOf(day, zone))
startWorker()
renderAlerts()
