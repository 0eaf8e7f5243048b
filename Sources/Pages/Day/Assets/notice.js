// A reminder as a browser's notification: what the open page shows, and what the service worker shows for a push.
import { quoted } from './quote.js'

/** What `showNotification` takes. A second notice of the same reminder replaces the first: the tag is its id. */
export const noticeOf = ({ id, title, startsAt, startTime, partnerTask }) => [`${quoted(title)} at ${startTime}`, {
  body: partnerTask ? `Your partner will start ${quoted(partnerTask)}. The waiting room is open.` : 'It begins in a moment.',
  tag: id, icon: '/page/icon.png', data: { startsAt }, timestamp: Date.parse(startsAt),
}]
