// The little that is needed of a framework.

export const find = selector => document.querySelector(selector)

/** Sets what an element says; nothing happens when it says so already, so that live regions speak of changes only. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}

const heading = () => find(document.body.dataset.view === 'room' ? '#room-title' : '#date')

/** Shows or hides an element. The focus doesn't go with it: it goes to `next`, or the heading. */
export function show(element, isShown, next = heading()) {
  const hadFocus = !isShown && element.contains(document.activeElement)
  element.hidden = !isShown
  if (hadFocus) next.focus()
}

/** A copy of the template's only element. */
export const stamp = name => find(`template#${name}`).content.firstElementChild.cloneNode(true)

/** The part of an element that is marked `data-part`. */
export const part = (element, name) => element.querySelector(`[data-part=${name}]`)
