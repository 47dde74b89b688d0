/** The words that can follow each command, read from the commands themselves. */
import type { Command } from 'commander';

export interface Word {
  readonly text: string;
  readonly description: string;
}

export interface Place {
  /** The commands before, such as ["creations", "list"]. */
  readonly path: readonly string[];
  readonly commands: readonly Word[];
  /** With the options of the program. */
  readonly flags: readonly Word[];
  /** The values of the options that have a list of them, by the flag. */
  readonly choices: readonly { readonly flag: string; readonly values: readonly string[] }[];
}

export function placesOf(program: Command): readonly Place[] {
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
