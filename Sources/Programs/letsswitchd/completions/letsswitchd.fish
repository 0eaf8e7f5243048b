# fish completion of letsswitchd(8); the flags are those of its --help
set -l commands serve check ticket backup restore daemons rooms due deliveries sessions conversations connections close kick drain remind export erase
complete -c letsswitchd -f -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c letsswitchd -F -n "__fish_seen_subcommand_from backup restore"
complete -c letsswitchd -a "(letsswitchd --help 2>/dev/null | string match -r '^  --[a-z-]+' | string trim)" -n "string match -q -- '-*' (commandline -ct)"
