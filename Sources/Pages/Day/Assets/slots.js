// A day's slots and what can be done with each. Without DOM.
import { quoted } from './quote.js'
import { instantOfKey } from './time.js'

/** What the states are called. They differ in text and shape; colour comes third. */
export const WORDS = {
  past: 'Past',
  closed: 'Registration closed',
  free: 'Free',
  somebody: 'Somebody will have a task',
  own: 'You have a task',
  partner: 'You have a partner',
  room: 'Enter the waiting room',
}

/** The slots of `GET /schedule`, in its order. A time that the clocks skip has no instant, and can't be chosen. */
export function slotsOf(answer, day, zone) {
  return Object.entries(answer?.schedule ?? {}).map(([key, entry]) => ({
    key,
    time: key.replace('+1', ''),
    isSecond: key.endsWith('+1'),
    startsAt: instantOfKey(key, day, zone),
    id: entry.id,
    title: entry.title ?? '',
    isOwn: entry.hasOwnTask === true,
    hasOther: entry.hasSomebodyElse === true,
    partner: entry.partnerTask ?? null,
    room: entry.roomId ?? null,
  }))
}

/** Until when a task's room has something to show: with a partner until it closes, alone for as long as the lead was. */
export const roomEnd = (slot, { lead, roomDuration }) =>
  slot.startsAt + (slot.isOwn && slot.hasOther ? roomDuration : Math.min(lead, roomDuration))

/** One of `WORDS`' names, at `now` by the server's clock; durations in milliseconds. */
export function stateOf(slot, now, settings) {
  if (slot.startsAt === null) return 'closed'
  if (now >= slot.startsAt - settings.lead) {
    if (slot.isOwn && now < roomEnd(slot, settings)) return 'room'
    return now >= slot.startsAt ? 'past' : 'closed'
  }
  if (slot.isOwn) return slot.hasOther ? 'partner' : 'own'
  return slot.hasOther ? 'somebody' : 'free'
}

/** What else there is to say of a slot: a line under its state. */
export function detailOf(slot, state) {
  if (slot.startsAt === null) return 'The clocks skip this hour'
  if (slot.isOwn && slot.hasOther) {
    const verb = state === 'past' ? 'started' : 'will start'
    return `${quoted(slot.title)} · your partner ${verb} ${quoted(slot.partner)}`
  }
  if (slot.isOwn) return slot.title
  return slot.isSecond ? 'The second time that the clocks show this hour' : ''
}

/** The own task that has found a partner between two answers of the same day; `null` if none has. */
export const newlyPaired = (before, after) => after.find(slot => slot.isOwn && slot.hasOther
  && before.some(old => old.startsAt === slot.startsAt && old.isOwn && !old.hasOther)) ?? null

/** The own task that is next, or whose room is open. */
export const nextTask = (slots, now, settings) =>
  slots.find(slot => slot.isOwn && slot.startsAt !== null && now < roomEnd(slot, settings)) ?? null
