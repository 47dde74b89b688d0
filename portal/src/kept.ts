/**
 * The entries of a person when the session ended, and the action for which the service required a fresh
 * sign-in. Only this tab keeps both during the sign-in. They are restored once, for the same person on the
 * same page.
 */
import { type Dispatch, type StateUpdater, useEffect, useRef, useState } from 'preact/hooks';
import {
  type PortalOperationName,
  signInParameters,
  signInPaths,
} from '../../service/contract/operations.ts';
import type { Input } from '../../service/contract/portal-calls.ts';
import type { MeView } from '../../service/contract/portal-views.ts';
import { currentPath, href } from './router.ts';
import { createValue } from './value.ts';

interface Kept {
  readonly of: string;
  readonly path: string;
  readonly atMillis: number;
  readonly values: Readonly<Record<string, unknown>>;
}

const storageName = 'darkroom.typed';
const longestMillis = 15 * 60_000;
/** Beginnings of keys and secrets, and addresses with a user or a query: they may hold a secret. */
const secretive = /dk_[a-z]+_|whsec_|https?:\/\/[^\s/]*@|https?:\/\/\S*\?/i;

/** The values of the parts on the current page, each with its first value. */
const shown = new Map<string, { readonly value: unknown; readonly initial: unknown }>();
let given = new Map<string, unknown>();
let owner = '';

/** The signed-in person and the account. Entries and actions are restored only for the same person. */
const currentOwner = (): string => owner;

/** Stores the entries of this page before a sign-in leaves the page. */
export function keepTyped(): void {
  const typed = [...shown].filter(
    ([, { value, initial }]) => JSON.stringify(value) !== JSON.stringify(initial),
  );
  const values = withoutSecrets(Object.fromEntries(typed.map(([name, { value }]) => [name, value])));
  const kept: Kept = { of: owner, path: currentPath(), atMillis: Date.now(), values };
  sessionStorage.setItem(storageName, JSON.stringify(kept));
}

function withoutSecrets(values: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
      if (!secretive.test(JSON.stringify(value))) return [[name, value]];
      const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
      return isRecord ? [[name, withoutSecrets(value)]] : [];
    }),
  );
}

/** Moves the stored entries out of the storage, before the first page of this person is shown. */
export function takeTyped(me: MeView): void {
  owner = `${me.person.id} ${me.account?.id ?? ''}`;
  const text = sessionStorage.getItem(storageName);
  if (text === null) return;
  sessionStorage.removeItem(storageName);
  const kept = JSON.parse(text) as Kept;
  const isTheirs = kept.of === owner && kept.path === currentPath();
  if (isTheirs && Date.now() - kept.atMillis < longestMillis) given = new Map(Object.entries(kept.values));
}

/** A state that survives a sign-in. Its name is unique on the page. Never for secrets that are shown once. */
export function useKept<Value>(
  name: string,
  initial: Value | (() => Value),
): [Value, Dispatch<StateUpdater<Value>>] {
  const first = useRef<Value | undefined>(undefined);
  const [value, set] = useState<Value>(() => {
    const start = initial instanceof Function ? initial() : initial;
    first.current = start;
    if (!given.has(name)) return start;
    const typed = given.get(name) as Value;
    given.delete(name);
    return typed;
  });
  useEffect(() => {
    shown.set(name, { value, initial: first.current });
    return () => void shown.delete(name);
  }, [name, value]);
  return [value, set];
}

/** The address of the way back has the id, so that only an expected return finishes the action. */
interface Begun {
  readonly id: string;
  /** The person who began it, and the account. */
  readonly of: string;
  readonly operation: PortalOperationName;
  readonly input: Input;
  readonly atMillis: number;
}

const begunName = 'darkroom.begun';
const parameter = 'continue';

/** The action that needs a fresh sign-in. A dialog of the shell asks the person. */
export const waiting = createValue<Pick<Begun, 'operation' | 'input'> | null>(null);

/** The address that signs in and leads back to the page that is shown. */
export const signInAddress = (page = currentPath()): string =>
  `${signInPaths.login}?${signInParameters.returnTo}=${encodeURIComponent(href(page))}`;

/** Stores the action, and leaves for a fresh sign-in. */
export function signInAfresh({ operation, input }: Pick<Begun, 'operation' | 'input'>): void {
  const begun: Begun = {
    id: crypto.randomUUID(),
    of: currentOwner(),
    operation,
    input,
    atMillis: Date.now(),
  };
  sessionStorage.setItem(begunName, JSON.stringify(begun));
  const back = signInAddress(currentPath({ [parameter]: begun.id }));
  location.assign(`${back}&${signInParameters.isFresh}=1`);
}

function takeBegun(): Begun | undefined {
  const text = sessionStorage.getItem(begunName);
  const here = new URL(location.href);
  const id = here.searchParams.get(parameter);
  if (id !== null) {
    here.searchParams.delete(parameter);
    history.replaceState(null, '', here.href);
  }
  sessionStorage.removeItem(begunName);
  if (text === null) return undefined;
  const begun = JSON.parse(text) as Begun;
  return begun.id === id && Date.now() - begun.atMillis < longestMillis ? begun : undefined;
}

let begun: Begun | undefined;

/** Reads the stored action, once, before the first page is shown. */
export function readBegun(): void {
  // A failed sign-in leads back with an error: then nothing is finished.
  begun = takeBegun();
}

/** The input of the operation when the person came back to finish it. */
export function begunInput<Name extends PortalOperationName>(name: Name): Input<Name> | undefined {
  return begun?.operation === name && begun.of === currentOwner() ? begun.input : undefined;
}

/** The same input, which is returned once. */
export function finishBegun<Name extends PortalOperationName>(name: Name): Input<Name> | undefined {
  const input = begunInput(name);
  if (input) begun = undefined;
  return input;
}
