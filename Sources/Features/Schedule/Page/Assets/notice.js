// Browser notifications: reminders, which the open page shows and the service worker shows for a push, and those that only the service
// worker shows: a changed partner, and messages of conversations.
import { quoted } from './quote.js'

/** Returns the arguments of `showNotification`. The tag is the reminder's id, so a second notification of a reminder replaces the first. */
export const noticeOf = ({ id, title, startsAt, startTime, partnerTask }) => [`${quoted(title)} at ${startTime}`, {
  body: partnerTask ? `Your partner will start ${quoted(partnerTask)}. The waiting room is open.` : 'It starts in a moment.',
  tag: id, icon: '/page/icon.png', data: { startsAt }, timestamp: Date.parse(startsAt),
}]

const dayOf = instant => new Date(instant).toLocaleDateString('en', { weekday: 'long', day: 'numeric', month: 'long' })

/** Returns the arguments of `showNotification` when the partner has left or changed; `now` in milliseconds. */
export const partnerNoticeOf = ({ id, title, startsAt, startTime, roomId, partnerTask }, now = Date.now()) => [
  `${quoted(title)} at ${startTime}${dayOf(startsAt) === dayOf(now) ? '' : `, ${dayOf(startsAt)}`}`, {
    body: roomId ? `You have a new partner${partnerTask ? `, who will start ${quoted(partnerTask)}` : ''}.` : 'You have no partner for this task any more.',
    tag: id, icon: '/page/icon.png', data: { startsAt }, timestamp: now,
  }]

const namesOf = authors => authors.length > 2 ? `${authors.slice(0, 2).join(', ')} and ${authors.length - 2} more` : authors.join(' and ')

/** Puts another user's text on a line of its own, so that it can't imitate other text. */
const inOneLine = content => quoted(content.replace(/[\n-\r\x1c-\x1e\x85\u2028\u2029]+/g, ' '))

/** Returns the arguments of `showNotification` for messages: their texts, with their authors if there are several. Each minute has its own notification. */
export const messageNoticeOf = ({ conversation, authors, count, messages }) => {
  const lines = messages.map(({ author, content }) => authors.length > 1 ? `${author}: ${inOneLine(content)}` : content)
  const left = count - messages.length
  return [namesOf(authors), {
    body: [...(left > 0 ? [`${left} more`] : []), ...lines].join('\n'), icon: '/page/icon.png', data: { conversation },
  }]
}
