// Titles are written by others: their text direction must not affect the text around them. This module doesn't use the DOM.

const MAY_TURN = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Returns a title within a sentence, isolated if it could change the direction of the text around it. Without a title the partner was deleted. */
export const quoted = (title = null) => MAY_TURN.test(title ?? '') ? `\u2068${closed(title)}\u2069` : title ?? 'something'

const closed = text => {
  let result = ''
  const open = []
  for (const char of text.replace(/[\n\r\x1c-\x1e\x85\u2029]/g, ' ')) {
    if (/[\u202a\u202b\u202d\u202e]/.test(char)) open.push('\u202c')
    else if (/[\u2066-\u2068]/.test(char)) open.push('\u2069')
    else if (char === '\u202c') {
      if (open.at(-1) !== char) continue
      open.pop()
    } else if (char === '\u2069') {
      if (!open.includes(char)) continue
      // Also closes the embeddings within it.
      open.length = open.lastIndexOf(char)
    }
    result += char
  }
  return result + open.reverse().join('')
}
