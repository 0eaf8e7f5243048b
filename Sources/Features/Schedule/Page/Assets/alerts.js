// Reminders outside of the page: browser notifications while it is open, Web Push when it is not.
import { noticeOf } from './notice.js'
import * as store from './store.js'

/** How long the service worker may take to start. */
const TIMEOUT = 10_000
const isOffered = document.documentElement.dataset.push === 'true'
const scripts = self.trustedTypes?.createPolicy('page', { createScriptURL: () => '/page/worker.js' })

/** The service worker's registration. It exists only on https and localhost, and perhaps not in a private window. */
let registering = Promise.resolve(null)
/** Whether the server got the subscription since the page was loaded. */
let isKept = false

export function startWorker() {
  const { serviceWorker } = navigator
  if (!serviceWorker) return
  registering = serviceWorker.register(scripts?.createScriptURL('') ?? '/page/worker.js', { scope: '/' })
    .catch(() => serviceWorker.getRegistration('/')).catch(() => null)
  registering.then(registration => registration && replaceBy(registration))
}

/** Replaces the old worker by a newer one. This page has all its files, and the next one gets the new files. */
function replaceBy(registration) {
  const replace = worker => {
    const look = () => { if (worker.state === 'installed') worker.postMessage('replace') }
    worker.addEventListener('statechange', look)
    look()
  }
  for (const worker of [registration.waiting, registration.installing]) if (worker) replace(worker)
  registration.addEventListener('updatefound', () => replace(registration.installing))
}

/** Returns impossible, ask, blocked, open (works while the page is open), or closed (also when it is closed). */
export async function alertState(device) {
  if (!('Notification' in self) || !await registering) return 'impossible'
  if (Notification.permission === 'denied') return 'blocked'
  if (Notification.permission !== 'granted') return 'ask'
  const subscription = await subscribed()
  return subscription && store.subscription.get() === nameOf(device, subscription) ? 'closed' : 'open'
}

/** Asks for permission, and subscribes to Web Push where the server offers it. */
export async function allowAlerts(api, device) {
  if (await Notification.requestPermission() === 'granted') await keepSubscription(api, device)
}

/** Subscribes where that is allowed, and registers at the server again, which may have deleted it or know another device. */
export async function keepSubscription(api, device) {
  if (isKept || !isOffered || !('Notification' in self) || Notification.permission !== 'granted' || !await registering) return
  isKept = await subscribe(api, device).then(() => true, () => false)
}

async function subscribe(api, device) {
  const { pushManager } = await Promise.race([
    navigator.serviceWorker.ready, new Promise((_, fail) => setTimeout(fail, TIMEOUT, new Error('There is no worker.'))),
  ])
  const { publicKey } = await api.request('GET', '/push/key')
  const key = Uint8Array.from(atob(publicKey.replace(/-/g, '+').replace(/_/g, '/')), char => char.charCodeAt(0))
  const old = await pushManager.getSubscription()
  // A subscription belongs to the key that it was made with.
  const isOld = old && new Uint8Array(old.options.applicationServerKey ?? []).join() === key.join()
  if (old && !isOld) await old.unsubscribe()
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
  const { endpoint, keys } = subscription.toJSON()
  try {
    await api.request('POST', '/push/subscription', { deviceId: device, subscription: { endpoint, keys } })
  } catch (refusal) {
    // A new subscription that the server doesn't have is useless.
    if (!isOld) await subscription.unsubscribe()
    throw refusal
  }
  store.subscription.set(nameOf(device, subscription))
}

/** Deletes the subscription here and at the server, for a browser that changes its device. */
export async function unsubscribe(api, device) {
  store.subscription.set('')
  const subscription = await subscribed()
  if (!subscription) return
  const query = new URLSearchParams({ deviceId: device, endpoint: subscription.endpoint })
  await api.request('DELETE', `/push/subscription?${query}`).catch(() => {})
  await subscription.unsubscribe().catch(() => {})
}

/** Shows a reminder as a notification, where that is allowed. */
export async function notify(reminder) {
  if (!('Notification' in self) || Notification.permission !== 'granted') return
  const registration = await registering
  await registration?.showNotification(...noticeOf(reminder)).catch(() => {})
}

const subscribed = async () => (await registering)?.pushManager?.getSubscription().catch(() => null)

/** What the server has: the device and the subscription. */
const nameOf = (device, { endpoint }) => `${device} ${endpoint}`
