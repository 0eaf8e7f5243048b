/// The text of `--help`.
enum Help {
    static let text = """
        letsswitch: promise to start something, get reminders, send cheers.

          letsswitch promise TITLE --at TIME [--zone ZONE] [--invite]
                                     register a task; --invite prints a link for your partner
          letsswitch accept LINK TITLE [--zone ZONE]
                                     accept an invitation
          letsswitch cancel TASK     cancel a task by its id, or by its start time
          letsswitch cancel --at TIME [--zone ZONE]
          letsswitch leave TASK      cancel a task that has a partner, who is notified
          letsswitch prefer TASK     prefer this task's partner when several people wait
          letsswitch preferences     list the partners that you prefer
          letsswitch unprefer PREFERENCE
          letsswitch watch           show each reminder when it arrives
          letsswitch join ROOM       enter a room; in a terminal, any key sends a cheer, 1 to 5 choose its kind,
                                     and s reports that you have started
          letsswitch cheer ROOM [-n TIMES] [--kind clap|thumb|spark|heart|fire]
          letsswitch ask SESSION QUESTION
          letsswitch listen SESSION  show a session's questions, votes and answers
          letsswitch name NAME       choose the name that others see; it can't be changed later
          letsswitch say USER... -- TEXT
          letsswitch listen          show the messages of all your conversations
          letsswitch history [USER... [-n COUNT]]
                                     list your conversations, or the latest messages with these users

          --server ADDRESS           the server, such as https://example.org; default: LETSSWITCH_SERVER,
                                     a line in ~/.config/letsswitch/server, or http://127.0.0.1:8080
          --device ID                your device id; default: an id that is created once
          --at TIME                  the start time: 09:00 or 09:00:30 (the next one), or 2026-11-22T09:00:00Z
          --zone ZONE                the time zone of the start time, such as Europe/London; default: this machine's

        Options may come before or after the command. If the output isn't a terminal, each object from the server is one
        line of JSON. Exit status: 0 for success, 1 if the server refuses, 64 for wrong usage, 69 if the server doesn't
        answer, 74 if the output can't be written.
        """
}
