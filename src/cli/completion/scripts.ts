/** Scripts that let a shell complete `lockstep`. All know nothing but how to ask it. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** `program` is the name of the command on the PATH: letters and dashes. */
export function completionScript(shell: Shell, program: string): string {
  const name = program.replaceAll('-', '_');
  return SCRIPTS[shell].replaceAll('@PROGRAM@', program).replaceAll('@NAME@', name);
}

/**
 * Bash splits words at colons and equals signs, so the words are taken from the line. Candidates
 * then lose what stands before the last of these, which bash keeps.
 */
const BASH = `# bash completion for @PROGRAM@
__@NAME@_complete() {
  local line word kept directive
  local -a words answer
  IFS=$' \\t' read -r -a words <<<"\${COMP_LINE:0:COMP_POINT}"
  case "\${COMP_LINE:0:COMP_POINT}" in
    *[[:space:]]) words+=('') ;;
  esac
  word=\${words[\${#words[@]} - 1]}
  mapfile -t answer < <("\${words[0]/#\\~/$HOME}" __complete "\${words[@]:1}" 2>/dev/null </dev/null)
  COMPREPLY=()
  ((\${#answer[@]} > 0)) || return 0
  directive=\${answer[\${#answer[@]} - 1]}
  unset "answer[\${#answer[@]} - 1]"
  case $word in
    --*=*) word=\${word#*=} ;;
  esac
  kept=
  case $COMP_WORDBREAKS in
    *:*) kept=\${word%"\${word##*:}"} ;;
  esac
  if [[ $directive == :0 ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    return 0
  fi
  for line in "\${answer[@]}"; do
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$kept"}")
  done
}
complete -F __@NAME@_complete @PROGRAM@
`;

const ZSH = `#compdef @PROGRAM@
# zsh completion for @PROGRAM@
_@PROGRAM@() {
  local line value directive
  local -a answer values shown
  answer=("\${(@f)$("\${(Q)words[1]/#\\~/$HOME}" __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  directive=$answer[-1]
  answer[-1]=()
  [[ $PREFIX == --*=* ]] && compset -P '*='
  if [[ $directive == :0 ]]; then
    _files
    return
  fi
  for line in $answer; do
    value=\${line%%$'\\t'*}
    values+=("$value")
    if [[ $line == *$'\\t'* ]]; then
      shown+=("$value -- \${line#*$'\\t'}")
    else
      shown+=("$value")
    fi
  done
  compadd -l -d shown -a values
}
if [[ $funcstack[1] == _@PROGRAM@ ]]; then
  _@PROGRAM@ "$@"
else
  compdef _@PROGRAM@ @PROGRAM@
fi
`;

const FISH = `# fish completion for @PROGRAM@
function __@NAME@_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l answer ($words[1] __complete $words[2..-1] "$word" 2>/dev/null </dev/null)
    test (count $answer) -gt 0; or return
    set -l directive $answer[-1]
    set -e answer[-1]
    set -l kept ''
    if string match -qr -- '^--[a-z-]+=' "$word"
        set kept (string replace -r -- '=.*$' '=' "$word")
        set word (string replace -r -- '^[^=]*=' '' "$word")
    end
    if test "$directive" = ':0'
        set answer (__fish_complete_path "$word")
    end
    for line in $answer
        printf '%s\\n' "$kept$line"
    end
end
complete -c @PROGRAM@ -f -a '(__@NAME@_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
