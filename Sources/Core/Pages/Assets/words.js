// Sentences about errors, for people. This module doesn't use the DOM.

export const TITLE_LIMIT = 200

/** Matches a visible character: no white space, control or other blank character. */
const SEEN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cc}\p{Cf}\u2800\u{1d159}]/u

/** An error that the server answered with, or a missing answer (`status` 0). */
export class Refusal extends Error {
  constructor(status, { code = '', reason = '' } = {}, wait = 0) {
    super(reason || `status ${status}`)
    this.status = status
    this.code = code
    this.reason = reason
    this.wait = wait
  }
}

/** Returns what is wrong with a title, or '' if it is valid. */
export function titleFault(title) {
  if (!SEEN.test(title)) return 'Write what you will start. One word is enough.'
  const length = [...title].length
  return length > TITLE_LIMIT ? `That is ${length} characters. The limit is ${TITLE_LIMIT}.` : ''
}

/** Returns why a person's request failed. */
export function sentence(refusal, time) {
  switch (refusal.code) {
    case 'registration_closed': return `It is too late to promise something for ${time}.`
    case 'too_far_ahead': return 'That is too far ahead. You can promise at most 90 days ahead.'
    case 'has_partner': return `You have a partner at ${time} now. If you can’t make it, use “I can’t make it”.`
    case 'nobody_waits': return `Nobody waits at ${time}, and it is too late to promise something for then.`
    case 'no_such_invitation': return 'This invitation doesn’t exist any more.'
    case 'invitation_used': return 'Somebody else has already accepted this invitation.'
    case 'own_invitation': return 'This is your own invitation. Send it to somebody else.'
    case 'slot_taken': return 'You have promised something else at that time.'
    case 'series_exists': return 'You have a weekly task at that time already. See “Show weekly tasks”.'
    case 'no_such_series': return 'This weekly task has ended already.'
    case 'no_partner': return 'You don’t have this partner any more.'
    case 'no_such_preference': case 'no_such_block': return 'This is undone already.'
    case 'too_many_preferences': case 'too_many_blocks': return 'The list is full. Undo an entry first.'
    case 'too_many_series': return 'You have the maximum number of weekly tasks. End one first.'
    case 'not_started': return 'This task hasn’t started yet.'
    case 'no_such_task': return time ? `You have no task at ${time} any more.` : 'This task doesn’t exist any more.'
    case 'too_many_tasks': return 'You have the maximum number of tasks. Cancel one, or wait until one starts.'
    case 'too_many_registrations': return 'Your network has reached today’s limit. Please try again later.'
    case 'too_many_names': case 'too_many_conversations': return refusal.reason
    case 'database_unavailable': return 'The server can’t save this now. Please try again.'
  }
  if (refusal.status === 0) return 'The server can’t be reached. It may have received your request. You can safely try again.'
  if (refusal.status === 429) return 'You have sent too many requests. Please try again in a moment.'
  return refusal.reason || 'The server could not do this. Please try again.'
}

/** Returns why the current day can't be shown. */
export function loadingSentence(refusal) {
  if (refusal.status === 400) return refusal.reason
  return `${refusal.status ? 'The server can’t read the day now.' : 'The day can’t be loaded.'} Trying again…`
}
