# fish completion of letsswitch(1)
set -l commands promise accept cancel leave prefer preferences unprefer watch join cheer ask listen name say history help
complete -c letsswitch -f
complete -c letsswitch -l server -x -d 'Where the server is'
complete -c letsswitch -l device -x -d 'Who you are'
complete -c letsswitch -s h -l help -d 'How it is used'
complete -c letsswitch -n "__fish_seen_subcommand_from promise cancel" -l at -x -d 'When'
complete -c letsswitch -n "__fish_seen_subcommand_from promise accept cancel" -l zone -x -d 'Whose clock that is'
complete -c letsswitch -n "__fish_seen_subcommand_from promise" -l invite -d 'Wait for who gets the link'
complete -c letsswitch -n "__fish_seen_subcommand_from cheer history" -s n -x -d 'How many'
complete -c letsswitch -n "__fish_seen_subcommand_from cheer" -l kind -x -a 'plain clap thumb spark heart fire' -d 'How'
for command in $commands
    complete -c letsswitch -n "not __fish_seen_subcommand_from $commands" -a $command
end
