// The service worker: the page without a network, and reminders without the page.
import { noticeOf } from './notice.js'

const CACHE = 'page'
const PATIENCE = 3_000
const FILES = ['/', '/page/manifest.webmanifest', '/page/icon.svg', ...[
  'alerts', 'api', 'app', 'clock', 'countdown', 'day', 'device', 'dialogs', 'dom', 'events', 'link', 'notice', 'retry', 'room',
  'share', 'slots', 'store', 'stream', 'time', 'words',
].map(name => `/page/${name}.js`)]

addEventListener('install', event => {
  skipWaiting()
  event.waitUntil(caches.open(CACHE).then(cache => cache.addAll(FILES)))
})

addEventListener('activate', event => event.waitUntil(clients.claim()))

// From the network, which knows best; from the cache when that is away or slow. What is said to the server goes by itself.
addEventListener('fetch', event => {
  const { method, url } = event.request
  const { origin, pathname } = new URL(url)
  if (method !== 'GET' || origin !== location.origin || !FILES.includes(pathname)) return
  event.respondWith(answer(pathname))
})

async function answer(path) {
  const cache = await caches.open(CACHE)
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(PATIENCE) })
    if (!response.ok) throw response
    await cache.put(path, response.clone())
    return response
  } catch {
    return await cache.match(path) ?? Response.error()
  }
}

addEventListener('push', event => {
  try {
    event.waitUntil(registration.showNotification(...noticeOf(event.data.json())))
  } catch {
    // Something has to be shown, or the browser takes the subscription away.
    event.waitUntil(registration.showNotification('Let’s Switch', { body: 'It begins in a moment.' }))
  }
})

addEventListener('notificationclick', event => {
  event.notification.close()
  const { startsAt } = event.notification.data ?? {}
  const target = startsAt ? `/#room/${startsAt}` : '/'
  event.waitUntil((async () => {
    const [page] = await clients.matchAll({ type: 'window' })
    if (!page) return clients.openWindow(target)
    await page.focus()
    page.postMessage({ target })
  })())
})
