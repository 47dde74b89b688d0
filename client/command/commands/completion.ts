import { Argument, type Command } from 'commander';
import type { SessionCommand } from '../session.ts';

/** Writes the completion of each shell. Where nothing fits, each completes file names. */
const shells = { bash, zsh, fish } as const;
type Shell = keyof typeof shells;

const name = ({ path }: Place): string => path.join(' ');
const texts = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');
/** A text in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function bash(places: readonly Place[]): string {
  return `# darkroom completion bash
_darkroom() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
      ${places.flatMap((place) => (place.path.length > 0 ? [`${quoted(` ${name(place)}`)}) path=" ${name(place)}" ;;`] : [])).join('\n      ')}
    esac
  done
  case "$path:$before" in
${places.flatMap((place) => place.choices.map(({ flag, values }) => `    ${quoted(`${place.path.length > 0 ? ' ' : ''}${name(place)}:${flag}`)}) words=${quoted(values.join(' '))} ;;`)).join('\n')}
    *) case "$path" in
${places.map((place) => `      ${quoted(`${place.path.length > 0 ? ' ' : ''}${name(place)}`)}) words=${quoted(`${texts(place.commands)} `.trimStart())}; [[ $word == -* ]] && words=${quoted(texts(place.flags))} ;;`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _darkroom darkroom
`;
}

function zsh(places: readonly Place[]): string {
  const described = (words: readonly Word[]): string =>
    words.map(({ text, description }) => quoted(`${text.replaceAll(':', '\\:')}:${description}`)).join(' ');
  return `#compdef darkroom
# darkroom completion zsh
_darkroom() {
  local place= word
  local -a found flags
  for word in \${words[2,CURRENT-1]}; do
    case "$place $word" in
      ${places.flatMap((place) => (place.path.length > 0 ? [`${quoted(` ${name(place)}`)}) place=" ${name(place)}" ;;`] : [])).join('\n      ')}
    esac
  done
  case "$place:\${words[CURRENT-1]}" in
${places.flatMap((place) => place.choices.map(({ flag, values }) => `    ${quoted(`${place.path.length > 0 ? ' ' : ''}${name(place)}:${flag}`)}) found=(${values.map(quoted).join(' ')}); _describe value found; return ;;`)).join('\n')}
  esac
  case "$place" in
${places.map((place) => `    ${quoted(`${place.path.length > 0 ? ' ' : ''}${name(place)}`)}) found=(${described(place.commands)}); flags=(${described(place.flags)}) ;;`).join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then _describe option flags
  elif (( \${#found} )); then _describe command found
  else _files; fi
}
(( $+functions[compdef] )) && compdef _darkroom darkroom
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const own = place.commands.map(({ text }) => text).join(' ');
    const seen = place.path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const none = own === '' ? [] : [`not __fish_seen_subcommand_from ${own}`];
    const condition = quoted([...seen, ...none].join('; and '));
    return [
      ...place.commands.map(
        ({ text, description }) =>
          `complete -c darkroom -n ${condition} -f -a ${text} -d ${quoted(description)}`,
      ),
      ...place.flags.map(({ text, description }) => {
        const values = place.choices.find(({ flag }) => flag === text)?.values;
        const choice = values ? ` -x -a ${quoted(values.join(' '))}` : '';
        return `complete -c darkroom -n ${condition} -l ${text.slice(2)} -d ${quoted(description)}${choice}`;
      }),
    ];
  });
  return `# darkroom completion fish\n${lines.join('\n')}\n`;
}

/** The words that can follow each command, read from the commands themselves. */
interface Word {
  readonly text: string;
  readonly description: string;
}

interface Place {
  /** The commands before, such as ["creations", "list"]. */
  readonly path: readonly string[];
  readonly commands: readonly Word[];
  /** With the options of the program. */
  readonly flags: readonly Word[];
  /** The values of the options that have a list of them, by the flag. */
  readonly choices: readonly { readonly flag: string; readonly values: readonly string[] }[];
}

function placesOf(program: Command): readonly Place[] {
  return [...placesUnder(program, [], program)];
}

function* placesUnder(command: Command, path: readonly string[], program: Command): Generator<Place> {
  const options = [...new Set([...command.options, ...program.options])].filter(({ hidden }) => !hidden);
  const flagsOf = ({ short, long }: (typeof options)[number]): string[] =>
    [short, long].flatMap((flag) => flag ?? []);
  yield {
    path,
    commands: command.commands.map((one) => ({ text: one.name(), description: one.description() })),
    flags: options.flatMap((option) =>
      option.long ? [{ text: option.long, description: option.description }] : [],
    ),
    choices: options.flatMap((option) =>
      flagsOf(option).flatMap((flag) => (option.argChoices ? [{ flag, values: option.argChoices }] : [])),
    ),
  };
  for (const one of command.commands) yield* placesUnder(one, [...path, one.name()], program);
}

export function addCompletionCommand(program: SessionCommand): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(Object.keys(shells)))
    .description('print the completion for your shell, such as: eval "$(darkroom completion bash)"')
    .run(async ({ io }, shell: Shell) => {
      io.out.write(shells[shell](placesOf(program)));
      // The only command that waits for nothing.
      return Promise.resolve();
    });
}
