/// What `--help` says.
enum Help {
    static let text = """
        letsswitch: promise to start something, be reminded, cheer.

          letsswitch promise TITLE --at TIME [--zone ZONE] [--invite]
                                     somebody who promises the same time is the partner; --invite: who gets the link
          letsswitch accept LINK TITLE [--zone ZONE]
                                     promise the same start as whoever has invited you
          letsswitch cancel TASK     take a promise back, by the task's id
          letsswitch cancel --at TIME [--zone ZONE]
          letsswitch leave TASK      the same although somebody counts on it
          letsswitch prefer TASK     of several who wait, the partner in this task comes first from now on
          letsswitch preferences     whom you prefer
          letsswitch unprefer PREFERENCE
          letsswitch watch           reminders, as they come
          letsswitch join ROOM       be in a room; in a terminal, any key cheers, 1 to 5 in a way of their own,
                                     and s says that you have started
          letsswitch cheer ROOM [-n TIMES] [--kind clap|thumb|spark|heart|fire]
          letsswitch ask SESSION QUESTION
          letsswitch listen SESSION  a session's questions, and what becomes of them
          letsswitch name NAME       the name by which others know you; the first who takes it has it
          letsswitch say USER... -- TEXT
          letsswitch listen          what is said to you, and by you
          letsswitch history [USER... [-n COUNT]]
                                     your conversations; what was said last in the one with these

          --server ADDRESS           http://127.0.0.1:8080, https://example.org; also LETSSWITCH_SERVER,
                                     or a line in ~/.config/letsswitch/server
          --device ID                who you are; else an id that is made once
          --at TIME                  09:00 or 09:00:30, the next there is; or 2026-11-22T09:00:00Z
          --zone ZONE                whose clock that is: Europe/London; else this machine's

        Options stand before or after the command. Where the output is no terminal, each object of the server's is one
        line of JSON. Exit status: 0, 1 when the server refuses, 64 for wrong usage, 69 when nobody answers,
        74 when the output can't be written.
        """
}
