// Files that a program carries with it. In Swift `EmbeddedFile.basics_sql` and so on.
#include <stddef.h>

// An embedded file, in static memory.
struct EmbeddedFile {
    // The content, followed by a zero byte.
    const char *_Nonnull bytes;
    // The number of bytes without the final zero.
    ptrdiff_t count;
};

#define EMBEDDED(name) \
    struct EmbeddedFile embedded_##name(void) __attribute__((swift_name("getter:EmbeddedFile." #name "()")));

// Schedule/SQL
EMBEDDED(basics_sql)
EMBEDDED(zones_sql)
EMBEDDED(tasks_sql)
EMBEDDED(moves_sql)
EMBEDDED(partners_sql)
EMBEDDED(series_sql)
EMBEDDED(invitations_sql)
EMBEDDED(preferences_sql)
EMBEDDED(history_sql)
EMBEDDED(days_sql)
EMBEDDED(devices_sql)
EMBEDDED(calendar_sql)
EMBEDDED(quotas_sql)

// Reminders/SQL
EMBEDDED(reminders_sql)
EMBEDDED(claims_sql)

// Matches/SQL
EMBEDDED(absence_sql)
EMBEDDED(rooms_sql)
EMBEDDED(attendance_sql)

// Notifications/SQL
EMBEDDED(addresses_sql)
EMBEDDED(providers_sql)
EMBEDDED(deliveries_sql)
EMBEDDED(notices_sql)
EMBEDDED(events_sql)
EMBEDDED(retention_sql)

// Questions/SQL
EMBEDDED(questions_sql)
EMBEDDED(question_reading_sql)
EMBEDDED(question_deletion_sql)

// Conversations/SQL
EMBEDDED(conversations_sql)
EMBEDDED(messages_sql)
EMBEDDED(conversation_reading_sql)
EMBEDDED(partner_conversations_sql)
EMBEDDED(blocks_sql)
EMBEDDED(bridge_sql)
EMBEDDED(notifications_sql)

// Schema/SQL
EMBEDDED(migration_0001_schema_sql)
EMBEDDED(migration_0002_daemons_sql)
EMBEDDED(migration_0003_presence_sql)
EMBEDDED(migration_0004_questions_sql)
EMBEDDED(migration_0005_erased_sql)
EMBEDDED(migration_0006_conversations_sql)
EMBEDDED(migration_0007_partners_sql)
EMBEDDED(migration_0008_started_sql)
EMBEDDED(migration_0009_blocks_sql)
EMBEDDED(migration_0010_bridge_sql)
EMBEDDED(migration_0011_series_sql)
EMBEDDED(migration_0012_samples_sql)
EMBEDDED(migration_0013_notifications_sql)
EMBEDDED(migration_0014_absence_sql)
EMBEDDED(migration_0015_gathered_sql)
EMBEDDED(migration_0016_invitations_sql)
EMBEDDED(migration_0017_epochs_sql)
EMBEDDED(migration_0018_notices_sql)
EMBEDDED(migration_0019_used_series_sql)
EMBEDDED(migration_0020_left_sql)
EMBEDDED(migration_0021_used_blocks_sql)
EMBEDDED(migration_0022_unused_names_sql)
EMBEDDED(migration_0023_lapsed_sql)
EMBEDDED(migration_0024_bus_standing_sql)
EMBEDDED(migration_0025_answered_sql)
EMBEDDED(migration_0026_question_count_sql)
EMBEDDED(daemons_sql)
EMBEDDED(export_sql)
EMBEDDED(samples_sql)

// Pages/Assets
EMBEDDED(base_css)
EMBEDDED(api_js)
EMBEDDED(device_js)
EMBEDDED(dom_js)
EMBEDDED(icon_svg)
EMBEDDED(retry_js)
EMBEDDED(store_js)
EMBEDDED(words_js)

// Schedule/Page/Assets
EMBEDDED(again_js)
EMBEDDED(alerts_js)
EMBEDDED(app_js)
EMBEDDED(clock_js)
EMBEDDED(countdown_js)
EMBEDDED(day_js)
EMBEDDED(dialogs_js)
EMBEDDED(events_js)
EMBEDDED(icon_png)
EMBEDDED(index_html)
EMBEDDED(invitations_js)
EMBEDDED(link_js)
EMBEDDED(manifest_webmanifest)
EMBEDDED(notice_js)
EMBEDDED(page_css)
EMBEDDED(partner_js)
EMBEDDED(past_js)
EMBEDDED(promises_js)
EMBEDDED(quote_js)
EMBEDDED(room_js)
EMBEDDED(series_js)
EMBEDDED(share_js)
EMBEDDED(slots_js)
EMBEDDED(stream_js)
EMBEDDED(time_js)
EMBEDDED(worker_js)
EMBEDDED(zone_js)

// Questions/Page/Assets
EMBEDDED(questions_css)
EMBEDDED(questions_html)
EMBEDDED(questions_js)

// Conversations/Page/Assets
EMBEDDED(conversations_css)
EMBEDDED(conversations_html)
EMBEDDED(conversations_js)
EMBEDDED(feed_js)
EMBEDDED(identity_js)
EMBEDDED(inbox_js)
EMBEDDED(keeper_js)
EMBEDDED(make_js)
EMBEDDED(moments_js)
EMBEDDED(outbox_js)
EMBEDDED(talks_js)
EMBEDDED(thread_js)
EMBEDDED(ticket_form_js)

// LetsSwitch/History/Page/Assets
EMBEDDED(operations_css)
EMBEDDED(operations_html)
EMBEDDED(operations_js)
EMBEDDED(plots_js)

// APIDescription
EMBEDDED(answers_txt)
EMBEDDED(refusals_txt)

#undef EMBEDDED
