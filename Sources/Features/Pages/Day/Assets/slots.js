// A day's slots and what can be done with each. Without DOM.
import { quoted } from './quote.js'
import { instantOfKey } from './time.js'

/** What the states are called. They differ in text and shape; colour comes third. */
export const WORDS = {
  past: 'Past',
  late: 'It has begun',
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

/** Until when a task's room has something to show: with a partner until it closes, alone for as long as somebody may come. */
export const roomEnd = (slot, { lead, lateJoin = 0, roomDuration }) =>
  slot.startsAt + (slot.isOwn && slot.hasOther ? roomDuration : Math.min(Math.max(lead, lateJoin), roomDuration))

/** Until when one may come to somebody who waits. */
const lateEnd = ({ startsAt }, { lateJoin = 0, roomDuration }) => startsAt + Math.min(lateJoin, roomDuration)

/** Whether one may ask for somebody who waits: has had nobody, so that nobody else has the room (`none`, of a link's states). */
export const maySeek = (slot, link, now, settings) =>
  link === 'none' && !slot.hasOther && now >= slot.startsAt && now < lateEnd(slot, settings)

/** One of `WORDS`' names, at `now` by the server's clock; durations in milliseconds. */
export function stateOf(slot, now, settings) {
  if (slot.startsAt === null) return 'closed'
  if (now >= slot.startsAt - settings.lead) {
    if (slot.isOwn && now < roomEnd(slot, settings)) return 'room'
    if (now < slot.startsAt) return 'closed'
    return !slot.isOwn && now < lateEnd(slot, settings) ? 'late' : 'past'
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
  if (state === 'late') return 'You may join somebody who waits'
  return slot.isSecond ? 'The second time that the clocks show this hour' : ''
}

/** The own task that has found a partner between two answers of the same day; `null` if none has. */
export const newlyPaired = (before, after) => after.find(slot => slot.isOwn && slot.hasOther
  && before.some(old => old.startsAt === slot.startsAt && old.isOwn && !old.hasOther)) ?? null

/** What has become of one's company, in words; '' when that is as it was. */
export function turnOf(before, after) {
  if (!before || before.room === after.room && before.hasOther === after.hasOther) return ''
  if (!after.hasOther) return 'Your partner isn’t coming. Somebody else may still join you.'
  return `${before.hasOther ? 'You have another partner' : 'Somebody has joined you'}: they will start ${quoted(after.partner)}.`
}

/** The own task that is next, or whose room is open. */
export const nextTask = (slots, now, settings) =>
  slots.find(slot => slot.isOwn && slot.startsAt !== null && now < roomEnd(slot, settings)) ?? null
