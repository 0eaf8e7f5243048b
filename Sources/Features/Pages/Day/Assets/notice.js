// A reminder as a browser's notification: what the open page shows, and what the service worker shows for a push; and what the service
// worker alone shows: that the partner has changed, and what was said in a conversation.
import { quoted } from './quote.js'

/** What `showNotification` takes. A second notice of the same reminder replaces the first: the tag is its id. */
export const noticeOf = ({ id, title, startsAt, startTime, partnerTask }) => [`${quoted(title)} at ${startTime}`, {
  body: partnerTask ? `Your partner will start ${quoted(partnerTask)}. The waiting room is open.` : 'It starts in a moment.',
  tag: id, icon: '/page/icon.png', data: { startsAt }, timestamp: Date.parse(startsAt),
}]

const dayOf = instant => new Date(instant).toLocaleDateString('en', { weekday: 'long', day: 'numeric', month: 'long' })

/** The same for somebody whose partner has left, or who has another; `now` in milliseconds. */
export const partnerNoticeOf = ({ id, title, startsAt, startTime, roomId, partnerTask }, now = Date.now()) => [
  `${quoted(title)} at ${startTime}${dayOf(startsAt) === dayOf(now) ? '' : `, ${dayOf(startsAt)}`}`, {
    body: roomId ? `You have a new partner${partnerTask ? `, who will start ${quoted(partnerTask)}` : ''}.` : 'You have no partner for this task any more.',
    tag: id, icon: '/page/icon.png', data: { startsAt }, timestamp: now,
  }]

const namesOf = authors => authors.length > 2 ? `${authors.slice(0, 2).join(', ')} and ${authors.length - 2} more` : authors.join(' and ')

/** Another's words beside others' in a line of their own: no line of them looks like somebody else's. */
const inOneLine = content => quoted(content.replace(/[\n-\r\x1c-\x1e\x85\u2028\u2029]+/g, ' '))

/** The same for messages: their words, each with who has said it where they are several. Those of one minute replace nobody's. */
export const messageNoticeOf = ({ conversation, authors, count, messages }) => {
  const lines = messages.map(({ author, content }) => authors.length > 1 ? `${author}: ${inOneLine(content)}` : content)
  const left = count - messages.length
  return [namesOf(authors), {
    body: [...(left > 0 ? [`${left} more`] : []), ...lines].join('\n'), icon: '/page/icon.png', data: { conversation },
  }]
}
