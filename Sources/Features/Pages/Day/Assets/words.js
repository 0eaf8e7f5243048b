// What goes wrong, said to a person. Without DOM.

export const TITLE_LIMIT = 200

/** What isn't white space, a control, or else blank by design. */
const SEEN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cc}\p{Cf}\u2800\u{1d159}]/u

/** The server's no, or its silence (`status` 0). */
export class Refusal extends Error {
  constructor(status, { code = '', reason = '' } = {}, wait = 0) {
    super(reason || `status ${status}`)
    this.status = status
    this.code = code
    this.reason = reason
    this.wait = wait
  }
}

/** What is wrong with a title before anybody is asked; '' if nothing is. */
export function titleFault(title) {
  if (!SEEN.test(title)) return 'What will you start? A word is enough.'
  const length = [...title].length
  return length > TITLE_LIMIT ? `That is ${length} characters; ${TITLE_LIMIT} fit.` : ''
}

/** Why what a person asked for did not happen. */
export function sentence(refusal, time) {
  switch (refusal.code) {
    case 'registration_closed': return `It is too late for ${time}: registration has closed.`
    case 'too_far_ahead': return 'That is too far ahead: at most 90 days.'
    case 'has_partner': return `Somebody counts on you at ${time}: with a partner, a promise is kept.`
    case 'nobody_waits': return `Nobody waits at ${time} now: it is too late.`
    case 'no_such_invitation': return 'This invitation isn’t there any more.'
    case 'invitation_used': return 'Somebody else has come already.'
    case 'own_invitation': return 'This is your own invitation: send it to somebody.'
    case 'slot_taken': return 'You have promised something else then.'
    case 'series_exists': return 'You do that at that time already, or with another title: see “Every week”.'
    case 'no_such_series': return 'That has ended already.'
    case 'no_partner': return 'Your partner isn’t here any more.'
    case 'no_such_preference': case 'no_such_block': return 'That is undone already.'
    case 'too_many_preferences': case 'too_many_blocks': return 'The list is full: something has to be undone first.'
    case 'too_many_series': return 'You repeat as much as fits: something has to end first.'
    case 'not_started': return 'It has not begun yet.'
    case 'no_such_task': return time ? `There is no task of yours at ${time} any more.` : 'That isn’t there any more.'
    case 'too_many_tasks': return 'You have promised as much as fits: something has to start first.'
    case 'too_many_registrations': return 'Too much was promised from your network today. Please try again later.'
    case 'too_many_names': case 'too_many_conversations': return refusal.reason
    case 'database_unavailable': return 'The server can’t write it down just now. Please try again.'
  }
  if (refusal.status === 0) return 'The server can’t be reached. It may or may not have heard you; trying again is safe.'
  if (refusal.status === 429) return 'That was too fast for the server. Please try again in a moment.'
  return refusal.reason || 'The server could not do it. Please try again.'
}

/** Why the day can't be shown as it is now. */
export function loadingSentence(refusal) {
  if (refusal.status === 400) return refusal.reason
  return `${refusal.status ? 'The server can’t read the day just now.' : 'The day can’t be loaded.'} Trying again…`
}
