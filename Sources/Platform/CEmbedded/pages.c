// The files of the web pages.
#include "embedding.h"

BEGIN(base_css)
#embed "../../Core/Pages/Assets/base.css" suffix(, 0)
END(base_css)

BEGIN(again_js)
#embed "../../Features/Schedule/Page/Assets/again.js" suffix(, 0)
END(again_js)

BEGIN(alerts_js)
#embed "../../Features/Schedule/Page/Assets/alerts.js" suffix(, 0)
END(alerts_js)

BEGIN(api_js)
#embed "../../Core/Pages/Assets/api.js" suffix(, 0)
END(api_js)

BEGIN(app_js)
#embed "../../Features/Schedule/Page/Assets/app.js" suffix(, 0)
END(app_js)

BEGIN(clock_js)
#embed "../../Features/Schedule/Page/Assets/clock.js" suffix(, 0)
END(clock_js)

BEGIN(countdown_js)
#embed "../../Features/Schedule/Page/Assets/countdown.js" suffix(, 0)
END(countdown_js)

BEGIN(day_js)
#embed "../../Features/Schedule/Page/Assets/day.js" suffix(, 0)
END(day_js)

BEGIN(device_js)
#embed "../../Core/Pages/Assets/device.js" suffix(, 0)
END(device_js)

BEGIN(dialogs_js)
#embed "../../Features/Schedule/Page/Assets/dialogs.js" suffix(, 0)
END(dialogs_js)

BEGIN(dom_js)
#embed "../../Core/Pages/Assets/dom.js" suffix(, 0)
END(dom_js)

BEGIN(events_js)
#embed "../../Features/Schedule/Page/Assets/events.js" suffix(, 0)
END(events_js)

BEGIN(icon_png)
#embed "../../Features/Schedule/Page/Assets/icon.png" suffix(, 0)
END(icon_png)

BEGIN(icon_svg)
#embed "../../Core/Pages/Assets/icon.svg" suffix(, 0)
END(icon_svg)

BEGIN(index_html)
#embed "../../Features/Schedule/Page/Assets/index.html" suffix(, 0)
END(index_html)

BEGIN(invitations_js)
#embed "../../Features/Schedule/Page/Assets/invitations.js" suffix(, 0)
END(invitations_js)

BEGIN(link_js)
#embed "../../Features/Schedule/Page/Assets/link.js" suffix(, 0)
END(link_js)

BEGIN(manifest_webmanifest)
#embed "../../Features/Schedule/Page/Assets/manifest.webmanifest" suffix(, 0)
END(manifest_webmanifest)

BEGIN(notice_js)
#embed "../../Features/Schedule/Page/Assets/notice.js" suffix(, 0)
END(notice_js)

BEGIN(page_css)
#embed "../../Features/Schedule/Page/Assets/page.css" suffix(, 0)
END(page_css)

BEGIN(partner_js)
#embed "../../Features/Schedule/Page/Assets/partner.js" suffix(, 0)
END(partner_js)

BEGIN(past_js)
#embed "../../Features/Schedule/Page/Assets/past.js" suffix(, 0)
END(past_js)

BEGIN(promises_js)
#embed "../../Features/Schedule/Page/Assets/promises.js" suffix(, 0)
END(promises_js)

BEGIN(quote_js)
#embed "../../Features/Schedule/Page/Assets/quote.js" suffix(, 0)
END(quote_js)

BEGIN(retry_js)
#embed "../../Core/Pages/Assets/retry.js" suffix(, 0)
END(retry_js)

BEGIN(room_js)
#embed "../../Features/Schedule/Page/Assets/room.js" suffix(, 0)
END(room_js)

BEGIN(series_js)
#embed "../../Features/Schedule/Page/Assets/series.js" suffix(, 0)
END(series_js)

BEGIN(share_js)
#embed "../../Features/Schedule/Page/Assets/share.js" suffix(, 0)
END(share_js)

BEGIN(slots_js)
#embed "../../Features/Schedule/Page/Assets/slots.js" suffix(, 0)
END(slots_js)

BEGIN(store_js)
#embed "../../Core/Pages/Assets/store.js" suffix(, 0)
END(store_js)

BEGIN(stream_js)
#embed "../../Features/Schedule/Page/Assets/stream.js" suffix(, 0)
END(stream_js)

BEGIN(time_js)
#embed "../../Features/Schedule/Page/Assets/time.js" suffix(, 0)
END(time_js)

BEGIN(words_js)
#embed "../../Core/Pages/Assets/words.js" suffix(, 0)
END(words_js)

BEGIN(worker_js)
#embed "../../Features/Schedule/Page/Assets/worker.js" suffix(, 0)
END(worker_js)

BEGIN(zone_js)
#embed "../../Features/Schedule/Page/Assets/zone.js" suffix(, 0)
END(zone_js)

BEGIN(questions_css)
#embed "../../Features/Questions/Page/Assets/questions.css" suffix(, 0)
END(questions_css)

BEGIN(questions_html)
#embed "../../Features/Questions/Page/Assets/questions.html" suffix(, 0)
END(questions_html)

BEGIN(questions_js)
#embed "../../Features/Questions/Page/Assets/questions.js" suffix(, 0)
END(questions_js)

BEGIN(conversations_css)
#embed "../../Features/Conversations/Page/Assets/conversations.css" suffix(, 0)
END(conversations_css)

BEGIN(conversations_html)
#embed "../../Features/Conversations/Page/Assets/conversations.html" suffix(, 0)
END(conversations_html)

BEGIN(conversations_js)
#embed "../../Features/Conversations/Page/Assets/conversations.js" suffix(, 0)
END(conversations_js)

BEGIN(feed_js)
#embed "../../Features/Conversations/Page/Assets/feed.js" suffix(, 0)
END(feed_js)

BEGIN(identity_js)
#embed "../../Features/Conversations/Page/Assets/identity.js" suffix(, 0)
END(identity_js)

BEGIN(inbox_js)
#embed "../../Features/Conversations/Page/Assets/inbox.js" suffix(, 0)
END(inbox_js)

BEGIN(keeper_js)
#embed "../../Features/Conversations/Page/Assets/keeper.js" suffix(, 0)
END(keeper_js)

BEGIN(make_js)
#embed "../../Features/Conversations/Page/Assets/make.js" suffix(, 0)
END(make_js)

BEGIN(moments_js)
#embed "../../Features/Conversations/Page/Assets/moments.js" suffix(, 0)
END(moments_js)

BEGIN(outbox_js)
#embed "../../Features/Conversations/Page/Assets/outbox.js" suffix(, 0)
END(outbox_js)

BEGIN(talks_js)
#embed "../../Features/Conversations/Page/Assets/talks.js" suffix(, 0)
END(talks_js)

BEGIN(thread_js)
#embed "../../Features/Conversations/Page/Assets/thread.js" suffix(, 0)
END(thread_js)

BEGIN(ticket_form_js)
#embed "../../Features/Conversations/Page/Assets/ticket-form.js" suffix(, 0)
END(ticket_form_js)

BEGIN(operations_css)
#embed "../../Programs/LetsSwitch/History/Page/Assets/operations.css" suffix(, 0)
END(operations_css)

BEGIN(operations_html)
#embed "../../Programs/LetsSwitch/History/Page/Assets/operations.html" suffix(, 0)
END(operations_html)

BEGIN(operations_js)
#embed "../../Programs/LetsSwitch/History/Page/Assets/operations.js" suffix(, 0)
END(operations_js)

BEGIN(plots_js)
#embed "../../Programs/LetsSwitch/History/Page/Assets/plots.js" suffix(, 0)
END(plots_js)
