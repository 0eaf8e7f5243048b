// Who one is: a secret that this browser made. Without DOM.

/** A UUID. `crypto.randomUUID` is there on https only; the dice are everywhere. */
export function newDevice(dice = crypto) {
  if (dice.randomUUID) return dice.randomUUID().toUpperCase()
  const bytes = dice.getRandomValues(new Uint8Array(16))
  bytes[6] = bytes[6] & 0x0F | 0x40
  bytes[8] = bytes[8] & 0x3F | 0x80
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('').toUpperCase()
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
}

/** What somebody pasted, as the server takes it; `null` if it doesn't. */
export function readDevice(text) {
  const trimmed = `${text ?? ''}`.trim()
  return trimmed && [...trimmed].length <= 128 && !/[\u0000-\u001F]/.test(trimmed) ? trimmed : null
}

/** Who one is here: as the browser has kept it, or somebody new. */
export const firstDevice = kept => readDevice(kept) ?? newDevice()
