"""Shell completion scripts, made from the parser itself."""

from __future__ import annotations

import argparse

BASH = """\
# maxmargin completion for bash: eval "$(maxmargin completion bash)"
_maxmargin() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= w
    for w in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case $w in {commands}) command=$w; break;; esac
    done
    case $command:$before in
{values}
    esac
    case $command in
{cases}
        *) COMPREPLY=($(compgen -W "{words} --help --version" -- "$word"));;
    esac
}}
complete -o default -F _maxmargin maxmargin
"""
BASH_CASE = (
    '        {command}) COMPREPLY=($(compgen -W "{options}" -- "$word"));'
    ' [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- "$word"));;'
)
BASH_VALUES = (
    '        {command}:{flag}) COMPREPLY=($(compgen -W "{choices}" -- "$word"));'
    " return;;"
)
ZSH = """\
#compdef maxmargin
# maxmargin completion for zsh: eval "$(maxmargin completion zsh)"
_maxmargin() {{
    local -a commands
    commands=({described})
    if (( CURRENT == 2 )); then
        _describe 'command' commands
        return
    fi
    case $words[2]:$words[CURRENT-1] in
{values}
    esac
    case $words[2] in
{cases}
    esac
}}
compdef _maxmargin maxmargin
"""
ZSH_VALUES = "        {command}:{flag}) compadd -- {choices}; return;;"
ZSH_CASE = "        {command}) compadd -- {options}; _files;;"


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script for a shell: "bash", "zsh" or "fish"."""
    commands = _commands(parser)
    if shell == "bash":
        cases = [
            BASH_CASE.format(command=name, options=" ".join(_words(sub)))
            for name, (sub, _) in commands.items()
        ]
        return BASH.format(
            commands="|".join(commands),
            words=" ".join(commands),
            cases="\n".join(cases),
            values="\n".join(
                BASH_VALUES.format(command=name, flag=flag, choices=" ".join(choices))
                for name, (sub, _) in commands.items()
                for flag, choices in _values(sub)
            ),
        )
    if shell == "zsh":
        cases = [
            ZSH_CASE.format(command=name, options=" ".join(_words(sub)))
            for name, (sub, _) in commands.items()
        ]
        described = " ".join(
            f"'{name}:{_quiet(text)}'" for name, (_, text) in commands.items()
        )
        values = [
            ZSH_VALUES.format(command=name, flag=flag, choices=" ".join(choices))
            for name, (sub, _) in commands.items()
            for flag, choices in _values(sub)
        ]
        return ZSH.format(
            described=described, cases="\n".join(cases), values="\n".join(values)
        )
    return _fish(commands)


def _fish(commands: dict[str, tuple[argparse.ArgumentParser, str]]) -> str:
    lines = ["# maxmargin completion for fish: maxmargin completion fish | source"]
    for name, (sub, text) in commands.items():
        lines.append(
            f"complete -c maxmargin -n __fish_use_subcommand -a {name} -d '{_quiet(text)}'"
        )
        for action in sub._actions:
            for flag in action.option_strings:
                kind = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
                seen = f"-n '__fish_seen_subcommand_from {name}'"
                values = " ".join(map(str, action.choices or ()))
                given = f" -xa '{values}'" if values else ""
                lines.append(
                    f"complete -c maxmargin {seen} {kind}{given} "
                    f"-d '{_quiet(action.help or '')}'"
                )
            for choice in action.choices or () if not action.option_strings else ():
                lines.append(
                    f"complete -c maxmargin -n '__fish_seen_subcommand_from {name}' "
                    f"-a {choice}"
                )
    return "\n".join(lines) + "\n"


def _commands(
    parser: argparse.ArgumentParser,
) -> dict[str, tuple[argparse.ArgumentParser, str]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {a.dest: a.help or "" for a in action._choices_actions}
            return {name: (sub, texts[name]) for name, sub in action.choices.items()}
    raise AssertionError("the parser has no commands")


def _values(parser: argparse.ArgumentParser) -> list[tuple[str, list[str]]]:
    """Flags that take one of some values, with these values."""
    return [
        (flag, [str(choice) for choice in action.choices])
        for action in parser._actions
        for flag in action.option_strings
        if action.choices
    ]


def _words(parser: argparse.ArgumentParser) -> list[str]:
    words: list[str] = []
    for action in parser._actions:
        words += action.option_strings
        if not action.option_strings and action.choices:
            words += [str(choice) for choice in action.choices]
    return words


def _quiet(text: str) -> str:
    return text.replace("'", "").replace(":", " -").replace("%", "").split("\n")[0]
