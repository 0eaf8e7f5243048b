// Asks the service worker to cache this page, for use without a network. Service workers exist only on https and localhost.

const scripts = self.trustedTypes?.createPolicy('page', { createScriptURL: () => '/page/worker.js' })

export async function keepPage() {
  const { serviceWorker } = navigator
  if (!serviceWorker) return
  try {
    await serviceWorker.register(scripts?.createScriptURL('') ?? '/page/worker.js', { scope: '/' })
    const { active } = await serviceWorker.ready
    active.postMessage('keep')
  } catch {
    // Without the service worker the page needs the network.
  }
}
