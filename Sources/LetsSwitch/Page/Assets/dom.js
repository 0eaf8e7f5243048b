// The little that is needed of a framework.

export const find = selector => document.querySelector(selector)

/** Sets what an element says; nothing happens when it says so already, so that live regions speak of changes only. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** A copy of the template's only element. */
export const stamp = name => find(`template#${name}`).content.firstElementChild.cloneNode(true)

/** The part of an element that is marked `data-part`. */
export const part = (element, name) => element.querySelector(`[data-part=${name}]`)
