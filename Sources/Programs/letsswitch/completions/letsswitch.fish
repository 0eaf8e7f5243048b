# fish completion of letsswitch(1)
set -l commands promise accept cancel leave prefer preferences unprefer watch join cheer ask listen name say history help
complete -c letsswitch -f
complete -c letsswitch -l server -x -d 'Server address'
complete -c letsswitch -l device -x -d 'Your device id'
complete -c letsswitch -s h -l help -d 'Print the commands and options'
complete -c letsswitch -n "__fish_seen_subcommand_from promise cancel" -l at -x -d 'Start time'
complete -c letsswitch -n "__fish_seen_subcommand_from promise accept cancel" -l zone -x -d 'Time zone'
complete -c letsswitch -n "__fish_seen_subcommand_from promise" -l invite -d 'Print a link for your partner'
complete -c letsswitch -n "__fish_seen_subcommand_from cheer history" -s n -x -d 'Number of cheers or messages'
complete -c letsswitch -n "__fish_seen_subcommand_from cheer" -l kind -x -a 'plain clap thumb spark heart fire' -d 'Kind of cheer'
for command in $commands
    complete -c letsswitch -n "not __fish_seen_subcommand_from $commands" -a $command
end
