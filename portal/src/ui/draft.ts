/**
 * The entries of a form that changes something stored. An untouched field shows the stored value, also
 * when it changes, and is never sent. A touched field keeps its entry. When the stored value under an entry has
 * changed, both stand beside each other until the person chooses.
 */
import { useKept } from '../kept.ts';

/** The stored value under an entry, which another person has changed. */
export interface Theirs {
  readonly text: string;
  readonly onTake: () => void;
  readonly onKeep: () => void;
}

export interface Draft<Values> {
  /** What the fields show. */
  readonly values: Values;
  /** The entries that are unlike what is stored. */
  readonly changed: Partial<Values>;
  readonly set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void;
  /** Undefined: nothing stands against the entry. */
  readonly theirs: (name: keyof Values) => Theirs | undefined;
  /** True: the person has to choose before the form is sent. */
  readonly isUndecided: boolean;
}

interface Entry {
  readonly value: unknown;
  /** What was stored when the person decided for the entry. */
  readonly over: unknown;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * @param name of the form, the same whenever it is opened for the same thing
 * @param stored the fields as the service has them now
 * @param wordsOf a stored value in words
 */
export function useDraft<Values extends object>(
  name: string,
  stored: Values,
  wordsOf: (name: keyof Values, value: Values[keyof Values]) => string,
): Draft<Values> {
  const [entries, setEntries] = useKept<Readonly<Record<string, Entry>>>(name, {});
  const names = Object.keys(entries) as (keyof Values & string)[];
  const isDisputed = (one: keyof Values & string): boolean => {
    const entry = entries[one];
    return entry !== undefined && !isSame(stored[one], entry.over) && !isSame(stored[one], entry.value);
  };
  const mine = Object.fromEntries(names.map((one) => [one, entries[one]?.value])) as Partial<Values>;
  const differing = names.filter((one) => !isSame(mine[one], stored[one]));
  return {
    values: { ...stored, ...mine },
    changed: Object.fromEntries(differing.map((one) => [one, mine[one]])) as Partial<Values>,
    set: (one, value) =>
      setEntries((before) => ({
        ...before,
        [one]: { value, over: before[String(one)]?.over ?? stored[one] },
      })),
    theirs: (one) =>
      isDisputed(one as keyof Values & string)
        ? {
            text: wordsOf(one, stored[one]),
            onTake: () =>
              setEntries((before) =>
                Object.fromEntries(Object.entries(before).filter(([other]) => other !== one)),
              ),
            onKeep: () =>
              setEntries((before) => ({ ...before, [one]: { value: mine[one], over: stored[one] } })),
          }
        : undefined,
    isUndecided: names.some(isDisputed),
  };
}
