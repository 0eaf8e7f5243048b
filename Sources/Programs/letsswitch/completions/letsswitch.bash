# bash completion of letsswitch(1)
_letsswitch() {
    local commands='promise accept cancel leave prefer preferences unprefer watch join cheer ask listen name say history help' word command=''
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    case $previous in
    --zone)
        mapfile -t COMPREPLY < <(cd /usr/share/zoneinfo 2>/dev/null && compgen -f -- "$current")
        return
        ;;
    --kind)
        mapfile -t COMPREPLY < <(compgen -W 'plain clap thumb spark heart fire' -- "$current")
        return
        ;;
    --server | --device | --at | -n) return ;;
    esac
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case " $commands " in *" $word "*) command=$word && break ;; esac
    done
    local options='--server --device --help'
    case $command in
    promise) options+=' --at --zone --invite' ;;
    accept) options+=' --zone' ;;
    cancel) options+=' --at --zone' ;;
    cheer) options+=' -n --kind' ;;
    history) options+=' -n' ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    elif [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
    fi
}
complete -F _letsswitch letsswitch
