// A day's slots, and what a person can do with each. This module doesn't use the DOM.
import { quoted } from './quote.js'
import { instantOfKey } from './time.js'

/** The states' texts. States differ in text and shape, not only in colour. */
export const WORDS = {
  past: 'Past',
  late: 'Has started',
  closed: 'Registration closed',
  free: 'Free',
  somebody: 'Somebody waits for a partner',
  own: 'You have a task',
  partner: 'You have a partner',
  room: 'Enter the waiting room',
}

/** Returns the slots of `GET /schedule` in the same order. A time that the clocks skip has no instant and can't be chosen. */
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

/** Returns when a task's room ends: with a partner when it closes, without one when nobody can join any more. */
export const roomEnd = (slot, { lead, lateJoin = 0, roomDuration }) =>
  slot.startsAt + (slot.isOwn && slot.hasOther ? roomDuration : Math.min(Math.max(lead, lateJoin), roomDuration))

/** Returns the end of the period in which a person can join a waiting one late. */
const lateEnd = ({ startsAt }, { lateJoin = 0, roomDuration }) => startsAt + Math.min(lateJoin, roomDuration)

/** Returns whether the person may look for a waiting partner: only if the task never had a partner (link state `none`). */
export const maySeek = (slot, link, now, settings) =>
  link === 'none' && !slot.hasOther && now >= slot.startsAt && now < lateEnd(slot, settings)

/** Returns the slot's state, a key of `WORDS`, at the server's time `now`. Durations are in milliseconds. */
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

/** Returns the line under a slot's state. */
export function detailOf(slot, state) {
  if (slot.startsAt === null) return 'The clocks skip this hour'
  if (slot.isOwn && slot.hasOther) {
    const verb = state === 'past' ? 'started' : 'will start'
    return `${quoted(slot.title)} · your partner ${verb} ${quoted(slot.partner)}`
  }
  if (slot.isOwn) return slot.title
  if (state === 'late') return 'You can join somebody who waits'
  return slot.isSecond ? 'The clocks show this hour twice; this is the second' : ''
}

/** Returns the own task that got a partner between two answers about the same day, or `null`. */
export const newlyPaired = (before, after) => after.find(slot => slot.isOwn && slot.hasOther
  && before.some(old => old.startsAt === slot.startsAt && old.isOwn && !old.hasOther)) ?? null

/** Returns a sentence about a change of partner, or '' without a change. */
export function turnOf(before, after) {
  if (!before || before.room === after.room && before.hasOther === after.hasOther) return ''
  if (!after.hasOther) return 'Your partner isn’t coming. Somebody else may still join you.'
  return `${before.hasOther ? 'You have another partner' : 'Somebody has joined you'}: they will start ${quoted(after.partner)}.`
}

/** Returns the own task that is next or whose room is open, or `null`. */
export const nextTask = (slots, now, settings) =>
  slots.find(slot => slot.isOwn && slot.startsAt !== null && now < roomEnd(slot, settings)) ?? null
