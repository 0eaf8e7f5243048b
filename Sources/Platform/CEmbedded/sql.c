// The functions of the database and its migrations.
#include "embedding.h"

BEGIN(basics_sql)
#embed "../../Features/Schedule/SQL/basics.sql" suffix(, 0)
END(basics_sql)

BEGIN(zones_sql)
#embed "../../Features/Schedule/SQL/zones.sql" suffix(, 0)
END(zones_sql)

BEGIN(tasks_sql)
#embed "../../Features/Schedule/SQL/tasks.sql" suffix(, 0)
END(tasks_sql)

BEGIN(moves_sql)
#embed "../../Features/Schedule/SQL/moves.sql" suffix(, 0)
END(moves_sql)

BEGIN(partners_sql)
#embed "../../Features/Schedule/SQL/partners.sql" suffix(, 0)
END(partners_sql)

BEGIN(series_sql)
#embed "../../Features/Schedule/SQL/series.sql" suffix(, 0)
END(series_sql)

BEGIN(absence_sql)
#embed "../../Features/Matches/SQL/absence.sql" suffix(, 0)
END(absence_sql)

BEGIN(invitations_sql)
#embed "../../Features/Schedule/SQL/invitations.sql" suffix(, 0)
END(invitations_sql)

BEGIN(preferences_sql)
#embed "../../Features/Schedule/SQL/preferences.sql" suffix(, 0)
END(preferences_sql)

BEGIN(history_sql)
#embed "../../Features/Schedule/SQL/history.sql" suffix(, 0)
END(history_sql)

BEGIN(days_sql)
#embed "../../Features/Schedule/SQL/days.sql" suffix(, 0)
END(days_sql)

BEGIN(reminders_sql)
#embed "../../Features/Reminders/SQL/reminders.sql" suffix(, 0)
END(reminders_sql)

BEGIN(claims_sql)
#embed "../../Features/Reminders/SQL/claims.sql" suffix(, 0)
END(claims_sql)

BEGIN(rooms_sql)
#embed "../../Features/Matches/SQL/rooms.sql" suffix(, 0)
END(rooms_sql)

BEGIN(devices_sql)
#embed "../../Features/Schedule/SQL/devices.sql" suffix(, 0)
END(devices_sql)

BEGIN(calendar_sql)
#embed "../../Features/Schedule/SQL/calendar.sql" suffix(, 0)
END(calendar_sql)

BEGIN(quotas_sql)
#embed "../../Features/Schedule/SQL/quotas.sql" suffix(, 0)
END(quotas_sql)

BEGIN(addresses_sql)
#embed "../../Features/Notifications/SQL/addresses.sql" suffix(, 0)
END(addresses_sql)

BEGIN(providers_sql)
#embed "../../Features/Notifications/SQL/providers.sql" suffix(, 0)
END(providers_sql)

BEGIN(deliveries_sql)
#embed "../../Features/Notifications/SQL/deliveries.sql" suffix(, 0)
END(deliveries_sql)

BEGIN(notices_sql)
#embed "../../Features/Notifications/SQL/notices.sql" suffix(, 0)
END(notices_sql)

BEGIN(events_sql)
#embed "../../Features/Notifications/SQL/events.sql" suffix(, 0)
END(events_sql)

BEGIN(attendance_sql)
#embed "../../Features/Matches/SQL/attendance.sql" suffix(, 0)
END(attendance_sql)

BEGIN(retention_sql)
#embed "../../Features/Notifications/SQL/retention.sql" suffix(, 0)
END(retention_sql)

BEGIN(questions_sql)
#embed "../../Features/Questions/SQL/questions.sql" suffix(, 0)
END(questions_sql)

BEGIN(question_reading_sql)
#embed "../../Features/Questions/SQL/question-reading.sql" suffix(, 0)
END(question_reading_sql)

BEGIN(question_deletion_sql)
#embed "../../Features/Questions/SQL/question-deletion.sql" suffix(, 0)
END(question_deletion_sql)

BEGIN(conversations_sql)
#embed "../../Features/Conversations/SQL/conversations.sql" suffix(, 0)
END(conversations_sql)

BEGIN(messages_sql)
#embed "../../Features/Conversations/SQL/messages.sql" suffix(, 0)
END(messages_sql)

BEGIN(conversation_reading_sql)
#embed "../../Features/Conversations/SQL/conversation-reading.sql" suffix(, 0)
END(conversation_reading_sql)

BEGIN(partner_conversations_sql)
#embed "../../Features/Conversations/SQL/partner-conversations.sql" suffix(, 0)
END(partner_conversations_sql)

BEGIN(blocks_sql)
#embed "../../Features/Conversations/SQL/blocks.sql" suffix(, 0)
END(blocks_sql)

BEGIN(bridge_sql)
#embed "../../Features/Conversations/SQL/bridge.sql" suffix(, 0)
END(bridge_sql)

BEGIN(notifications_sql)
#embed "../../Features/Conversations/SQL/notifications.sql" suffix(, 0)
END(notifications_sql)

BEGIN(migration_0001_schema_sql)
#embed "../../Operations/Schema/SQL/0001-schema.sql" suffix(, 0)
END(migration_0001_schema_sql)

BEGIN(migration_0002_daemons_sql)
#embed "../../Operations/Schema/SQL/0002-daemons.sql" suffix(, 0)
END(migration_0002_daemons_sql)

BEGIN(migration_0003_presence_sql)
#embed "../../Operations/Schema/SQL/0003-presence.sql" suffix(, 0)
END(migration_0003_presence_sql)

BEGIN(migration_0004_questions_sql)
#embed "../../Operations/Schema/SQL/0004-questions.sql" suffix(, 0)
END(migration_0004_questions_sql)

BEGIN(migration_0005_erased_sql)
#embed "../../Operations/Schema/SQL/0005-erased.sql" suffix(, 0)
END(migration_0005_erased_sql)

BEGIN(migration_0006_conversations_sql)
#embed "../../Operations/Schema/SQL/0006-conversations.sql" suffix(, 0)
END(migration_0006_conversations_sql)

BEGIN(migration_0007_partners_sql)
#embed "../../Operations/Schema/SQL/0007-partners.sql" suffix(, 0)
END(migration_0007_partners_sql)

BEGIN(migration_0008_started_sql)
#embed "../../Operations/Schema/SQL/0008-started.sql" suffix(, 0)
END(migration_0008_started_sql)

BEGIN(migration_0009_blocks_sql)
#embed "../../Operations/Schema/SQL/0009-blocks.sql" suffix(, 0)
END(migration_0009_blocks_sql)

BEGIN(migration_0010_bridge_sql)
#embed "../../Operations/Schema/SQL/0010-bridge.sql" suffix(, 0)
END(migration_0010_bridge_sql)

BEGIN(migration_0011_series_sql)
#embed "../../Operations/Schema/SQL/0011-series.sql" suffix(, 0)
END(migration_0011_series_sql)

BEGIN(migration_0012_samples_sql)
#embed "../../Operations/Schema/SQL/0012-samples.sql" suffix(, 0)
END(migration_0012_samples_sql)

BEGIN(migration_0013_notifications_sql)
#embed "../../Operations/Schema/SQL/0013-notifications.sql" suffix(, 0)
END(migration_0013_notifications_sql)

BEGIN(migration_0014_absence_sql)
#embed "../../Operations/Schema/SQL/0014-absence.sql" suffix(, 0)
END(migration_0014_absence_sql)

BEGIN(migration_0015_gathered_sql)
#embed "../../Operations/Schema/SQL/0015-gathered.sql" suffix(, 0)
END(migration_0015_gathered_sql)

BEGIN(migration_0016_invitations_sql)
#embed "../../Operations/Schema/SQL/0016-invitations.sql" suffix(, 0)
END(migration_0016_invitations_sql)

BEGIN(migration_0017_epochs_sql)
#embed "../../Operations/Schema/SQL/0017-epochs.sql" suffix(, 0)
END(migration_0017_epochs_sql)

BEGIN(migration_0018_notices_sql)
#embed "../../Operations/Schema/SQL/0018-notices.sql" suffix(, 0)
END(migration_0018_notices_sql)

BEGIN(migration_0019_used_series_sql)
#embed "../../Operations/Schema/SQL/0019-used-series.sql" suffix(, 0)
END(migration_0019_used_series_sql)

BEGIN(migration_0020_left_sql)
#embed "../../Operations/Schema/SQL/0020-left.sql" suffix(, 0)
END(migration_0020_left_sql)

BEGIN(migration_0021_used_blocks_sql)
#embed "../../Operations/Schema/SQL/0021-used-blocks.sql" suffix(, 0)
END(migration_0021_used_blocks_sql)

BEGIN(migration_0022_unused_names_sql)
#embed "../../Operations/Schema/SQL/0022-unused-names.sql" suffix(, 0)
END(migration_0022_unused_names_sql)

BEGIN(migration_0023_lapsed_sql)
#embed "../../Operations/Schema/SQL/0023-lapsed.sql" suffix(, 0)
END(migration_0023_lapsed_sql)

BEGIN(migration_0024_bus_standing_sql)
#embed "../../Operations/Schema/SQL/0024-bus-standing.sql" suffix(, 0)
END(migration_0024_bus_standing_sql)
BEGIN(migration_0025_answered_sql)
#embed "../../Operations/Schema/SQL/0025-answered.sql" suffix(, 0)
END(migration_0025_answered_sql)

BEGIN(migration_0026_question_count_sql)
#embed "../../Operations/Schema/SQL/0026-question-count.sql" suffix(, 0)
END(migration_0026_question_count_sql)

BEGIN(daemons_sql)
#embed "../../Operations/Schema/SQL/daemons.sql" suffix(, 0)
END(daemons_sql)

BEGIN(export_sql)
#embed "../../Operations/Schema/SQL/export.sql" suffix(, 0)
END(export_sql)

BEGIN(samples_sql)
#embed "../../Operations/Schema/SQL/samples.sql" suffix(, 0)
END(samples_sql)
