/** What is said to wrong values of each setting, one line for each value. */
import { parseSettings, SettingsError } from '../../lib/settings.ts';
import { fullSettings } from '../stack/full-settings.ts';

export const settingsFile = new URL('settings.json', import.meta.url);

const wrongValues = [null, true, -1, 1.5, 1e9, '', 'x', 'a'.repeat(300), [], ['x'], {}, { x: 1 }] as const;

export function settingsLines(): string[] {
  return pathsIn(fullSettings).flatMap((path) => {
    const said = (value: unknown): string => answerTo(replaced(fullSettings, path, value));
    const values = [...wrongValues, ...boundsIn(said(-1))];
    return values.map((value) => `${path.join('.')} = ${shown(value)}: ${said(value)}`);
  });
}

function answerTo(settings: unknown): string {
  try {
    parseSettings('settings', settings);
    return 'taken';
  } catch (error) {
    if (error instanceof SettingsError) return error.message.replaceAll('a'.repeat(300), 'aaa…');
    throw error;
  }
}

/** The smallest and largest number that a refusal names, and those beside them. */
function boundsIn(refusal: string): number[] {
  const [, least, most] = /from ([\d,]+) to ([\d,]+)/.exec(refusal) ?? [];
  return [least, most].flatMap((text) => {
    const bound = Number(text?.replaceAll(',', ''));
    return Number.isNaN(bound) ? [] : [bound - 1, bound, bound + 1];
  });
}

const shown = (value: unknown): string => JSON.stringify(value).replace('a'.repeat(300), 'aaa…');

type Path = readonly string[];

const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The paths of all groups and all members. */
function pathsIn(group: object): Path[] {
  return Object.entries(group).flatMap(([name, value]: [string, unknown]) => [
    [name],
    ...(isGroup(value) ? pathsIn(value).map((path) => [name, ...path]) : []),
  ]);
}

function replaced(group: object, [name = '', ...path]: Path, value: unknown): object {
  const member = (group as Readonly<Record<string, unknown>>)[name];
  return { ...group, [name]: path.length > 0 && isGroup(member) ? replaced(member, path, value) : value };
}
