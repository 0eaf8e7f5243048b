# bash completion of letsswitchd(8); the flags are those of its --help
_letsswitchd() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    case $previous in
    backup | restore | --*-file | --*-ca | --apns-key | --tls-certificate | --tls-key | --state-dir)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null | grep -o '^  --[a-z-]*')" -- "$current")
    elif ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'serve check ticket backup restore daemons rooms due deliveries sessions conversations connections close kick drain remind export erase' -- "$current")
    fi
}
complete -F _letsswitchd letsswitchd
